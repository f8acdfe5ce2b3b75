import { Kind, type OperationDefinitionNode, parse } from 'graphql';

/** An operation of a document. */
export interface NamedOperation {
  readonly name: string | null;
  readonly kind: 'query' | 'mutation' | 'subscription';
  readonly start: number;
  readonly end: number;
}

/** The operations of a document; none for a text that is no document, which the server refuses. */
function operationsOf(text: string): readonly NamedOperation[] {
  try {
    return parse(text, { maxTokens: 20_000 })
      .definitions.filter(
        (node): node is OperationDefinitionNode => node.kind === Kind.OPERATION_DEFINITION,
      )
      .map(({ name, operation, loc }) => ({
        name: name?.value ?? null,
        kind: operation,
        start: loc?.start ?? 0,
        end: loc?.end ?? 0,
      }));
  } catch {
    return [];
  }
}

/** The operation at the cursor, if there are several; else the first one. */
export function operationAt(text: string, offset: number): NamedOperation | undefined {
  const operations = operationsOf(text);
  return operations.findLast(({ start }) => start <= offset) ?? operations[0];
}
