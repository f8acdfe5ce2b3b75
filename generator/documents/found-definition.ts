import { remembered } from '@twofold/schema';
import {
  visit,
  type FragmentDefinitionNode,
  type OperationDefinitionNode,
  type Token,
} from 'graphql';
import type { DocumentText } from './document-text.ts';

/** An operation or a fragment, and the text that contains it. */
export interface FoundDefinition {
  readonly node: OperationDefinitionNode | FragmentDefinitionNode;
  readonly source: DocumentText;
}

/** The names of the fragments that a definition spreads, also through others, sorted. */
export function spreadsWithin(
  node: FoundDefinition['node'],
  fragmentOf: (name: string) => FragmentDefinitionNode | undefined,
): string[] {
  const names = new Set<string>();
  const open: FoundDefinition['node'][] = [node];
  for (const each of open)
    for (const name of directSpreads(each)) {
      if (names.has(name)) continue;
      names.add(name);
      const fragment = fragmentOf(name);
      if (fragment) open.push(fragment);
    }
  return [...names].sort();
}

const directSpreads = remembered((node: FoundDefinition['node']): readonly string[] => {
  const names: string[] = [];
  visit(node, { FragmentSpread: ({ name }) => void names.push(name.value) });
  return names;
});

/**
 * The description above a definition, else the comments right above it; null without either. A
 * comment that is separated by an empty line is about something else.
 */
export function descriptionOf(
  node: OperationDefinitionNode | FragmentDefinitionNode,
): string | null {
  if (node.description) return node.description.value;
  const lines: string[] = [];
  let next: Token | undefined = node.loc?.startToken;
  for (let token = next?.prev; token?.kind === 'Comment'; token = token.prev) {
    if (token.line + 1 !== next!.line || token.line === token.prev?.line) break;
    lines.unshift(token.value.trim());
    next = token;
  }
  return lines.join('\n').trim() || null;
}
