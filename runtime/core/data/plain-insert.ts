import type { WriteShape } from '@twofold/schema';
import type { Access } from './access.ts';
import type { Call, Get } from './plan.ts';
import { bind } from './reader.ts';
import type { Actor, WriteRequest } from './write-action.ts';
import { plainInput } from './write-input.ts';
import { completeRow, writeAccess } from './writer.ts';

/** What the answer to an insert shows of the new row, where the inserting statement can answer it by itself. */
export interface Returning<T> {
  readonly root: Get;
  readonly calls: readonly Call[];
  readonly tree: boolean;
  take(text: string | null): T;
}

/** A statement that inserts and answers, with the values of its parameters. */
export interface PlainInsert<T> extends Pick<Returning<T>, 'take'> {
  readonly text: string;
  readonly long: boolean;
  readonly values: readonly unknown[];
}

/**
 * The one statement of a create whose input sets columns of one row. Undefined when it nests something, or another row has
 * to be looked at first: then it takes several.
 *
 * @throws AppError `FORBIDDEN`, `BAD_USER_INPUT`
 */
export function plainInsert<T>(
  actor: Actor,
  request: WriteRequest<T>,
  shape: WriteShape,
  input: Readonly<Record<string, unknown>>,
  access: Access,
  returning: Returning<T>,
): PlainInsert<T> | undefined {
  const { model, store, reader } = actor;
  const { rules, caller } = request;
  const writer = { model, rules, caller, dialect: store.dialect, now: actor.now() };
  const plain = plainInput(writer, shape, input);
  if (!plain) return undefined;
  const entity = model.entity(shape.entity);
  const row = completeRow(
    writer,
    entity,
    plain.values,
    writeAccess(writer, entity, plain.fields, 'CREATE', access),
  );
  const { root, calls, tree } = returning;
  const { text, parameters, long } = reader.insertion([...row.keys()], root, calls, {
    rules,
    tree,
  });
  return {
    text,
    long,
    values: bind(parameters, model, store.dialect, { calls, caller, row }),
    take: returning.take,
  };
}
