import type { WriteShape } from '@twofold/schema';
import type { Access } from '../access/access.ts';
import { madeRowsOf } from './made-rows.ts';
import { bind } from '../reader.ts';
import type { Actor, WriteRequest, Arguments, Returning } from './write-request.ts';
import { plainInput, type PlainInput, without } from './write-input.ts';
import { completeRow, writeAccess } from './writer.ts';
import { isDirect } from '../access/row-condition.ts';
import { assertValid, inputErrors } from './constraint.ts';
import { onlyResolves, RowHooks } from './row-hooks.ts';
import { hooksOf } from './writing.ts';

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
  const { rules } = request;
  const writer = { model, rules, dialect: store.dialect, now: actor.now() };
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
      rules,
      row,
    }),
    take: returning.take,
  };
}

interface Insert<T> {
  readonly shape: WriteShape;
  readonly input: Arguments;
  readonly access: Access;
  readonly returning: NonNullable<WriteRequest<T>['returning']>;
}

/** What is known of a create after its hooks have returned, or when one of them waits. */
export interface HookedInsert<T> {
  readonly insert?: PlainInsert<T>;
  readonly hooks?: RowHooks;
  /** Set when a hook waits. The insert comes after it: in its savepoint, the hook could not read. */
  readonly waits?: Promise<unknown>;
}

/**
 * A create whose only hooks complete the input stays one statement, if the hooks return without
 * waiting.
 *
 * @returns the statement, or the hooks that have begun, for a create with several statements.
 */
export function hookedInsert<T>(
  actor: Actor,
  request: WriteRequest<T>,
  { shape, input, access, returning }: Insert<T>,
): HookedInsert<T> {
  const parts = hooksOf(actor.store);
  if (!parts || !onlyResolves(parts, shape.entity, 'create')) return {};
  const caller = request.context ?? parts.context();
  const entity = parts.model.entity(shape.entity);
  const hooks = new RowHooks({ ...parts, caller }, entity, 'create');
  const added = hooks.resolve(input);
  if (added instanceof Promise) return { hooks, waits: added };
  assertValid(inputErrors(parts.model, hooks.shape, added));
  const { rules } = request;
  const { dialect } = actor.store;
  const writer = { model: parts.model, rules, dialect, now: actor.now() };
  const more = plainInput(writer, hooks.shape, added);
  const given = without(parts.model, { shape, input }, added, hooks.shape);
  const insert =
    more &&
    plainInsert({ ...actor, model: parts.model }, request, {
      shape,
      input: given,
      more,
      access,
      returning,
    });
  return insert ? { insert, hooks } : { hooks };
}
