import { Kind } from 'graphql';
import type { ASTNode, DefinitionNode } from 'graphql';
import type { SourceText } from '../source.ts';
import { isOurDefinition, isOurDirective } from '../our-directives.ts';
import { usesWithin } from './directive-places.ts';

interface Cut {
  readonly start: number;
  readonly end: number;
}

/**
 * The text that the server serves: what the user wrote, comments included, without the uses of our directives.
 *
 * @example
 * // 'type User @entity(plural: "users") { id: ID! }' is served as 'type User { id: ID! }'
 */
export function servedSdl(sources: readonly SourceText[], definitions: readonly DefinitionNode[]): string {
  const cuts = new Map<string, Cut[]>();
  for (const definition of definitions) collect(definition, cuts);
  return sources.map((source) => withoutCuts(source.text.replace(/^\uFEFF/, ' '), cuts.get(source.file) ?? [])).join('\n');
}

function collect(definition: DefinitionNode, cuts: Map<string, Cut[]>): void {
  if (isOurDefinition(definition) || isOnlyOurs(definition)) return cut(definition, cuts);
  for (const { directive } of usesWithin(definition)) if (isOurDirective(directive)) cut(directive, cuts);
}

function cut(node: ASTNode, cuts: Map<string, Cut[]>): void {
  if (!node.loc) return;
  const list = cuts.get(node.loc.source.name);
  if (list) list.push(node.loc);
  else cuts.set(node.loc.source.name, [node.loc]);
}

/** `extend type User @entity(plural: "people")`: nothing is left of it when the directive is gone. */
function isOnlyOurs(definition: DefinitionNode): boolean {
  if (definition.kind !== Kind.OBJECT_TYPE_EXTENSION) return false;
  const { fields, interfaces, directives } = definition;
  return !fields?.length && !interfaces?.length && (directives ?? []).every(isOurDirective);
}

function withoutCuts(text: string, cuts: readonly Cut[]): string {
  const parts: string[] = [];
  let from = 0;
  for (const { start, end } of cuts.toSorted((a, b) => a.start - b.start)) {
    const before = text.slice(from, start);
    const kept = before.trimEnd();
    parts.push(kept, lineBreak(before.slice(kept.length), text, end));
    from = end;
  }
  return parts.join('') + text.slice(from);
}

const REST_OF_LINE_IS_EMPTY = /[^\S\n]*(?:\n|$)/y;

/** A line break before the directive stays if something follows on its line: the break may end a comment. */
function lineBreak(gap: string, text: string, end: number): string {
  const at = gap.lastIndexOf('\n');
  REST_OF_LINE_IS_EMPTY.lastIndex = end;
  return at < 0 || REST_OF_LINE_IS_EMPTY.test(text) ? '' : gap.slice(at);
}
