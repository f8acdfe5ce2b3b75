import { t } from '../../messages.ts';
import { type SentOperation, objectIn } from './run.ts';
import { Kind, type OperationDefinitionNode, parse } from 'graphql';

/** The contents of the page's boxes. */
export interface Typed {
  readonly text: string;
  readonly variables: string;
  readonly headers: string;
  readonly kind: NamedOperation['kind'];
  readonly name: string | null;
}

/** The contents of the boxes, with the operation at the cursor. */
export function typedAt(
  boxes: Pick<Typed, 'text' | 'variables' | 'headers'>,
  cursor: number,
): Typed {
  const operation = operationAt(boxes.text, cursor);
  return { ...boxes, kind: operation?.kind ?? 'query', name: operation?.name ?? null };
}

/** The body of the request. @throws Error when the variables are no object */
export function askedOf({ text, variables, name }: Typed): SentOperation {
  const given = objectIn(variables, t('Variables'));
  return {
    query: text,
    ...(name !== null && { operationName: name }),
    ...(Object.keys(given).length > 0 && { variables: given }),
  };
}

/** An operation of a document. */
interface NamedOperation {
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
function operationAt(text: string, offset: number): NamedOperation | undefined {
  const operations = operationsOf(text);
  return operations.findLast(({ start }) => start <= offset) ?? operations[0];
}
