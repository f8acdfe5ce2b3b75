import { t } from '../../messages.ts';
import { type NamedOperation, operationAt } from './operations.ts';
import { type SentOperation, objectIn } from './run.ts';

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
