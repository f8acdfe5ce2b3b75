import type { FragmentDefinitionNode, OperationDefinitionNode, Token } from 'graphql';

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
