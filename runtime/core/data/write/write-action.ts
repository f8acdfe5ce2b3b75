import type { Action, ArgumentPath, Operation } from '@twofold/schema';
import { AppError } from '../../errors.ts';
import type { Asker, TransactionBounds } from '../../store/bounds.ts';
import { logTimeout } from '../../store/own-transaction.ts';
import { actionErrors, actionInputs, inputOf } from './action-inputs.ts';
import { refusal, rootAccess, type Access, type Rules } from '../access/access.ts';
import { argumentErrors, assertValid } from './constraint.ts';
import { found, type EntityModel, type Model } from '../model.ts';
import { isMissingRelation, missingRelation } from './missing-relation.ts';
import { stored } from '../sql/stored-as.ts';
import {
  hookedInsert,
  type HookedInsert,
  plainInsert,
  type PlainCreate,
  type PlainInsert,
} from './plain-insert.ts';
import type { RowHooks } from './row-hooks.ts';
import { toStored } from '../sql/values.ts';
import { givenKey, locate } from './row-key.ts';
import { createFrom, updateFrom } from './write-input.ts';
import { removeAndNote } from './write-remove.ts';
import { assertUpsert, upsertRow } from './write-upsert.ts';
import { type KnownRow, note, type Writing } from './writer.ts';
import { inTransaction, mayCallHooks, openingOf } from './write-transaction.ts';
import { startWriting } from './writing.ts';
import { noteCommit } from './own-commit.ts';
import type { Arguments, Actor, WriteRequest } from './write-request.ts';

export type WriteAction = Extract<Action, { kind: 'create' | 'update' | 'remove' | 'upsert' }>;

/** `id` is null when there was no such row. */
export type Written<T> = { readonly id: string; readonly read: T } | { readonly id: null };

/**
 * Runs one mutation: the checks, then all writes and the reading of the answer in one transaction,
 * then the events. It returns a promise unless one statement is enough and the database answers
 * synchronously.
 *
 * @throws AppError `BAD_USER_INPUT`, `FORBIDDEN`, `UNAUTHENTICATED`, and those of `toFailure` for
 * what the database refuses.
 */
export function performAction<T>(
  actor: Actor,
  request: WriteRequest<T>,
): Written<T> | Promise<Written<T>> {
  try {
    const written = attempt(actor, request);
    return written instanceof Promise
      ? written.catch((error: unknown) => explain(actor, request, error))
      : written;
  } catch (error) {
    if (!isMissingRelation(error)) throw error;
    return explain(actor, request, error);
  }
}

/** Throws the error for the first of the given keys that has no row. */
async function explain(
  actor: Actor,
  { operation, args, rules }: WriteRequest<unknown>,
  error: unknown,
): Promise<never> {
  const action = operation.action as WriteAction;
  if (!isMissingRelation(error)) throw error;
  const writing = startWriting(actor, { rules }, actor.store.query);
  for (const { shape, input } of actionInputs(actor.model, action, args)) {
    const missing = await missingRelation(writing, shape, input);
    if (missing) throw missing;
  }
  throw error;
}

function attempt<T>(actor: Actor, request: WriteRequest<T>): Written<T> | Promise<Written<T>> {
  const action = request.operation.action as WriteAction;
  assertArguments(actor.model, action, request);
  const access = accessTo(actor.model, request.rules, request.operation, action);
  if (mayCallHooks(actor, action)) return performHooked(actor, request, action, access);
  const create = plainCreate(actor, request, action, access);
  const insert = create && plainInsert(actor, request, create);
  return (
    (insert && insertNow(actor, request, insert)) ??
    performLater(actor, request, action, access, { insert })
  );
}

function plainCreate<T>(
  actor: Actor,
  { returning, args }: WriteRequest<T>,
  action: WriteAction,
  access: Access,
): PlainCreate<T> | undefined {
  if (action.kind !== 'create' || !returning) return undefined;
  return { shape: writeOf(actor, action), input: inputOf(action, args), access, returning };
}

/**
 * Hooks run in a transaction, which begins with the first statement of theirs. Hooks that have used
 * none leave one statement, which needs no transaction.
 */
function performHooked<T>(
  actor: Actor,
  request: WriteRequest<T>,
  action: WriteAction,
  access: Access,
): Promise<Written<T>> {
  const create = plainCreate(actor, request, action, access);
  if (!create) return performLater(actor, request, action, access, {});
  const { store } = actor;
  const begun = store.transactionIfNeeded<HookedInsert<T> | { readonly written: Written<T> }>(
    () => {
      const hooked = hookedInsert(actor, request, create);
      if (hooked.insert && store.untouched) return hooked;
      const later = () => performLater(actor, request, action, access, hooked);
      const written = hooked.waits ? hooked.waits.then(later) : later();
      return written.then((done) => ({ written: done }));
    },
    openingOf(actor, request),
  );
  if (begun instanceof Promise)
    return begun.then(
      (done) => (done as { written: Written<T> }).written,
      (error: unknown) => logTimeout(error, request.context?.log),
    );
  const { insert, hooks } = begun as HookedInsert<T>;
  return (
    (insert && insertNow(actor, request, insert)) ??
    performLater(actor, request, action, access, { hooks })
  );
}

/**
 * Inserts a row without a transaction of its own, see `Store.writeOne`. Returns undefined where the
 * caller has to take part in a transaction, or to wait for its turn.
 */
function insertNow<T>(
  actor: Actor,
  request: WriteRequest<T>,
  insert: PlainInsert<T>,
): Promise<Written<T>> | undefined {
  assertWanted(request.asker);
  // A long statement would hold up the other writes of this turn.
  if (insert.long) return undefined;
  const { entity } = request.operation.action as WriteAction;
  const { asker } = request;
  const writing = actor.store.writeOne?.(insert.text, insert.values, asker);
  if (writing && asker) noteCommit(asker, writing);
  return writing?.then((rows) => {
    const written = inserted(insert, rows);
    actor.changes.publish([{ entity, kind: 'created', id: written.id }]);
    return written;
  });
}

function inserted<T>(
  { take }: PlainInsert<T>,
  [row]: readonly Record<string, unknown>[],
): { readonly id: string; readonly read: T } {
  return { id: String(row?.['id']), read: take((row?.['j'] ?? null) as string | null) };
}

interface Begun<T> {
  readonly insert?: PlainInsert<T> | undefined;
  readonly hooks?: RowHooks | undefined;
}

function performLater<T>(
  actor: Actor,
  request: WriteRequest<T>,
  action: WriteAction,
  access: Access,
  { insert, hooks }: Begun<T>,
): Promise<Written<T>> {
  const options = { bounds: boundsOf(actor, request), single: insert !== undefined };
  return inTransaction(actor, request, options, (writing) =>
    unlessCancelled(request, () =>
      insert
        ? insertWithin(writing, request, insert)
        : perform(actor, request, action, { writing, access, hooks }),
    ),
  );
}

function boundsOf(
  { model }: Actor,
  { asker, long = false, operation }: WriteRequest<unknown>,
): TransactionBounds | undefined {
  if (!asker) return undefined;
  const action = operation.action as WriteAction;
  return {
    asker,
    limits: model.project.api.limits,
    sent: true,
    // Removing a row also removes the rows that refer to it, or sets their references to null.
    long: long || (action.kind === 'remove' && isReferred(model, action.entity)),
  };
}

const isReferred = ({ project }: Model, entity: string) =>
  project.entities.some(({ columns }) =>
    columns.some(({ references }) => references?.entity === entity),
  );

async function insertWithin<T>(
  writing: Writing,
  request: WriteRequest<T>,
  insert: PlainInsert<T>,
): Promise<Written<T>> {
  const written = inserted(insert, await writing.query(insert.text, insert.values));
  note(
    writing,
    writing.model.entity((request.operation.action as WriteAction).entity),
    'created',
    written.id,
  );
  return written;
}

/**
 * Checks the time limit before the commit: a caller who got TIMEOUT must not find the write done.
 */
async function unlessCancelled<T>(
  { asker }: WriteRequest<unknown>,
  work: () => Promise<T>,
): Promise<T> {
  assertWanted(asker);
  const done = await work();
  assertWanted(asker);
  return done;
}

function assertWanted(asker: Asker | undefined): void {
  if (asker?.cancelled) throw new AppError(503, 'CANCELLED', 'the operation was cancelled');
}

function assertArguments(
  model: Model,
  action: WriteAction,
  { operation, args, prefix }: WriteRequest<unknown>,
): void {
  assertValid([...argumentErrors(operation, args), ...actionErrors(model, action, args, prefix)]);
}

const writeOf = (
  { model }: Pick<Actor, 'model'>,
  { write }: Extract<WriteAction, { kind: 'create' | 'update' }>,
) => found(model.writes.get(write), `input ${write}`);

const VERBS = { create: 'CREATE', update: 'UPDATE', remove: 'DELETE', upsert: 'UPDATE' } as const;

function accessTo(model: Model, rules: Rules, operation: Operation, action: WriteAction): Access {
  if (action.kind === 'upsert') assertUpsert(model, rules, operation);
  const verb = VERBS[action.kind];
  const access = rootAccess(model, rules, rules.operation(operation, verb), action.entity, verb);
  if (access.kind === 'none' && action.kind !== 'upsert') throw refusal(access.code);
  return access;
}

interface Performing {
  /** The hooks of a create, if they were called before. */
  readonly hooks?: RowHooks | undefined;
  readonly writing: Writing;
  readonly access: Access;
}

async function perform<T>(
  actor: Actor,
  request: WriteRequest<T>,
  action: WriteAction,
  { writing, access, hooks }: Performing,
): Promise<Written<T>> {
  const { model } = actor;
  const { query } = writing;
  if (action.kind === 'create') {
    const id = await createFrom(writing, writeOf(actor, action), inputOf(action, request.args), {
      access,
      ...(hooks && { hooks }),
    });
    return { id, read: await request.read(id, query) };
  }
  if (action.kind === 'upsert') {
    const id = await upsertRow(writing, action, request);
    return { id, read: await request.read(id, query) };
  }
  const entity = model.entity(action.entity);
  const id = await existingKey(actor, writing, action, request.args);
  if (id === null) return { id };
  await request.precondition?.(id, query);
  if (action.kind === 'remove') {
    const version = request.args[action.version ?? ''] ?? undefined;
    return remove(request, entity, { id, version }, { writing, access });
  }
  const there = await updateFrom(
    writing,
    writeOf(actor, action),
    id,
    inputOf(action, request.args),
    access,
  );
  return there ? { id, read: await request.read(id, query) } : { id: null };
}

/** The id in the arguments, or the id of the row whose unique key is in the arguments. */
async function existingKey(
  actor: Actor,
  writing: Writing,
  { entity: of, id = [], by }: Extract<WriteAction, { kind: 'update' | 'remove' }>,
  args: Arguments,
): Promise<string | null> {
  const entity = actor.model.entity(of);
  if (!by) return keyOf(actor, entity, argumentAt(args, id));
  const [argument = ''] = Object.keys(by[0] ?? {});
  return locate(writing, entity, givenKey(by, args, argument.split('.')[0] ?? ''));
}

const argumentAt = (args: Arguments, path: ArgumentPath): unknown =>
  path.reduce<any>((value, name) => value?.[name], args);

function keyOf({ model, store }: Actor, entity: EntityModel, value: unknown): string | null {
  const key = toStored(value, stored(model, entity, 'id'), model.ids, store.dialect);
  return key === null ? null : String(key);
}

/**
 * Reads a row before removing it, for the answer and for subscribers. A refusal to read it is that of
 * a row which the caller may remove: one that is gone, or hidden, is no row.
 */
async function remove<T>(
  request: WriteRequest<T>,
  entity: EntityModel,
  row: KnownRow,
  { writing, access }: Performing,
): Promise<Written<T>> {
  const { id } = row;
  const read = await request.read(id, writing.query).catch(refusalOf);
  if (!(await removeAndNote(writing, entity, row, access))) return { id: null };
  if (read instanceof AppError) throw read;
  return { id, read };
}

/** An error that is not one of the database, which has ended the transaction. */
function refusalOf(error: unknown): AppError {
  if (error instanceof AppError) return error;
  throw error;
}
