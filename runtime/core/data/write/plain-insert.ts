import type { WriteShape } from '@twofold/schema';
import type { Access } from '../access/access.ts';
import { madeRowsOf } from './made-rows.ts';
import { bind } from '../reader.ts';
import type { Actor, WriteRequest } from './write-request.ts';
import { plainInput, type PlainInput } from './write-input.ts';
import { completeRow, writeAccess } from './writer.ts';
import { isDirect } from '../access/row-condition.ts';
import type { Returning } from '../select/returning.ts';

/** A statement that inserts a row and returns the answer, with the values of its parameters. */
export interface PlainInsert<T> extends Pick<Returning<T>, 'take'> {
  readonly text: string;
  readonly long: boolean;
  readonly values: readonly unknown[];
}

/** A create, with what hooks add to its input. */
export interface PlainCreate<T> {
  readonly shape: WriteShape;
  readonly input: Readonly<Record<string, unknown>>;
  readonly more?: PlainInput;
  readonly access: Access;
  readonly returning: Returning<T>;
}

const joined = (plain: PlainInput, more: PlainInput): PlainInput => ({
  values: new Map([...plain.values, ...more.values]),
  names: new Map([...plain.names, ...more.names]),
  fields: plain.fields,
});

/**
 * The one statement of a create whose input sets only columns of one row. Undefined when the input
 * nests other rows, another row must be checked first, or something follows the making of the row:
 * the create then takes several statements.
 *
 * @throws AppError `FORBIDDEN`, `BAD_USER_INPUT`
 */
export function plainInsert<T>(
  actor: Actor,
  request: WriteRequest<T>,
  { shape, input, more, access, returning }: PlainCreate<T>,
): PlainInsert<T> | undefined {
  const { model, store, reader } = actor;
  if (madeRowsOf(store).has(shape.entity)) return undefined;
  // A trigger that another program made may change the row after the insert, or drop it.
  if (model.project.unmanaged) return undefined;
  const { rules, caller } = request;
  const writer = { model, rules, caller, dialect: store.dialect, now: actor.now() };
  const plain = plainInput(writer, shape, input);
  if (!plain) return undefined;
  const entity = model.entity(shape.entity);
  const allowed = writeAccess(writer, entity, plain.fields, 'CREATE', access);
  if (allowed.kind === 'rows' && !isDirect(allowed.conditions)) return undefined;
  const row = completeRow(writer, entity, more ? joined(plain, more) : plain, allowed);
  const { root, calls, tree } = returning;
  const { text, parameters, long } = reader.insertion([...row.keys()], root, calls, {
    rules,
    tree,
  });
  return {
    text,
    long,
    values: bind(parameters, model, store.dialect, {
      calls,
      caller,
      rules,
      row,
    }),
    take: returning.take,
  };
}
