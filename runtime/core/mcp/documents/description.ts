import { type GraphQLSchema, type OperationDefinitionNode, TokenKind } from 'graphql';
import type { PreparedOperation } from '../../graphql/document-cache.ts';
import { rootFieldsOf } from './root-fields.ts';

/** The description or the comment above an operation, else the descriptions of its root fields. */
export function descriptionOf(schema: GraphQLSchema, operation: PreparedOperation): string {
  const { node } = operation;
  const above = node.description?.value.trim() ?? commentAbove(node);
  if (above) return above;
  const root = schema.getRootType(node.operation)?.getFields() ?? {};
  const fields = [...new Set(rootFieldsOf(operation).map(({ name }) => name.value))];
  const said = fields.flatMap((name) => root[name]?.description?.trim() || []);
  return said.length > 0 ? said.join('\n') : `The ${node.operation} of ${fields.join(', ')}`;
}

/** The lines of comments that end on the line above an operation. */
function commentAbove({ loc }: OperationDefinitionNode): string {
  const lines: string[] = [];
  let line = loc?.startToken.line ?? 0;
  for (let token = loc?.startToken.prev; token?.kind === TokenKind.COMMENT; token = token.prev) {
    if (token.line !== line - 1) break;
    lines.unshift(token.value.trim());
    line = token.line;
  }
  return lines.join('\n').trim();
}
