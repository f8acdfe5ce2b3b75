import type { Action, Verb, WhichRows, WriteShape } from '@twofold/schema';
import { failure } from '../../errors.ts';
import { refusal, rootAccess, type Access } from '../access/access.ts';
import { actionErrors } from './action-inputs.ts';
import { argumentErrors, assertValid, type InputError } from './constraint.ts';
import { filterCondition } from '../filter/filter.ts';
import { assertFilterSize } from '../filter/filter-size.ts';
import { sql, toStatement, type Sql } from '../sql/fragment.ts';
import { listOf } from '../sql/list-of.ts';
import { insertPlainRows } from './insert-rows.ts';
import { found, type EntityModel } from '../model.ts';
import type { Query } from '../reader.ts';
import { bind } from '../reader.ts';
import { restricts } from '../filter/restricts.ts';
import { isDirect } from '../access/row-condition.ts';
import { isHooked } from './row-hooks.ts';
import { idIn, isConflict } from './row-key.ts';
import { accessCondition } from '../access/condition-sql.ts';
import { and, createScope, reference, where } from '../sql/scope.ts';
import { createFrom, plainInput, updateFrom, type PlainInput } from './write-input.ts';
import { removeAndNote } from './write-remove.ts';
import type { Actor, Arguments, WriteRequest } from './write-request.ts';
import { tableOf, keyOf, savepoint, writeAccess, type Key, type Writing } from './writer.ts';
import { inTransaction } from './write-transaction.ts';

export type ManyAction = Extract<Action, { kind: 'createMany' | 'updateMany' | 'removeMany' }>;

/** One mutation of several rows by one caller. Its action is a `ManyAction`. */
export interface ManyRequest<T> extends Omit<
  WriteRequest<T>,
  'read' | 'returning' | 'precondition'
> {
  /** Reads what the answer shows of the rows: after they are written, or before their removal. */
  read(ids: readonly Key[], query: Query): Promise<T>;
}

/** The keys of the rows that were written, and what the answer shows of them. */
export interface ManyWritten<T> {
  readonly ids: readonly Key[];
  readonly read: T;
}

const VERBS = { createMany: 'CREATE', updateMany: 'UPDATE', removeMany: 'DELETE' } as const;

/**
 * Runs one mutation of several rows: all of them are written, or none.
 *
 * @throws AppError those of `performAction`, and `BAD_USER_INPUT` for more rows than
 * `api.limits.many` or for a filter that says nothing.
 */
export async function performMany<T>(
  actor: Actor,
  request: ManyRequest<T>,
): Promise<ManyWritten<T>> {
  const { operation, rules, args } = request;
  const action = operation.action as ManyAction;
  const verb: Verb = VERBS[action.kind];
  assertValid([...argumentErrors(operation, args), ...errorsOf(actor, action, args)]);
  const own = rules.operation(operation, verb);
  const access = rootAccess(actor.model, rules, own, action.entity, verb);
  if (access.kind === 'none') throw refusal(access.code);
  const bounds = request.asker && {
    asker: request.asker,
    limits: actor.model.project.api.limits,
    sent: true,
    long: true,
  };
  return inTransaction(actor, request, { bounds }, (writing) => write(request, writing, access));
}

function errorsOf({ model }: Actor, action: ManyAction, args: Arguments): InputError[] {
  if (action.kind === 'createMany')
    assertFew(model, listOf(args[action.input]).length, action.input);
  return actionErrors(model, action, args);
}

const inputOf = (value: unknown) => (value ?? {}) as Arguments;

/** The limit of models that were generated before there was a setting. */
const LIMIT = 1000;

const limitOf = ({ project }: Actor['model']): number => project.api.limits.many ?? LIMIT;

function assertFew(model: Actor['model'], count: number, at: string): void {
  const limit = limitOf(model);
  if (count <= limit) return;
  throw failure.invalid(`${at} must name at most ${limit} rows`, {
    extensions: { value: count, field: at, limit },
  });
}

async function write<T>(
  request: ManyRequest<T>,
  writing: Writing,
  access: Access,
): Promise<ManyWritten<T>> {
  const action = request.operation.action as ManyAction;
  const { args } = request;
  if (action.kind === 'createMany') {
    const ids = await createRows(writing, action, args, access);
    return { ids, read: await request.read(ids, writing.query) };
  }
  const entity = writing.model.entity(action.entity);
  const ids = await chosenRows(writing, entity, { ...action, args, access });
  if (action.kind === 'updateMany') {
    const changed = await updateRows(writing, action, ids, { args, access });
    return { ids: changed, read: await request.read(changed, writing.query) };
  }
  const read = await request.read(ids, writing.query);
  const removed: Key[] = [];
  for (const id of ids) if (await removeAndNote(writing, entity, { id }, access)) removed.push(id);
  return { ids: removed, read };
}

type CreateMany = Extract<Action, { kind: 'createMany' }>;

async function createRows(
  writing: Writing,
  action: CreateMany,
  args: Arguments,
  access: Access,
): Promise<Key[]> {
  const shape = found(writing.model.writes.get(action.write), `input ${action.write}`);
  const inputs = listOf(args[action.input]);
  const skip = action.skipDuplicates !== undefined && args[action.skipDuplicates] === true;
  const rows = plainRows(writing, shape, inputs, access);
  if (rows)
    return insertPlainRows(writing, writing.model.entity(action.entity), rows, { access, skip });
  const ids: Key[] = [];
  for (const input of inputs) {
    const create = (inner: Writing) => createFrom(inner, shape, input, { access });
    const id = await (skip ? unlessTaken(writing, create) : create(writing));
    if (id !== null) ids.push(id);
  }
  return ids;
}

/**
 * The rows, if one statement can insert them all; undefined when a row needs further statements.
 */
function plainRows(
  writing: Writing,
  shape: WriteShape,
  inputs: readonly Arguments[],
  access: Access,
): PlainInput[] | undefined {
  const { entity } = writing.model.entity(shape.entity);
  if (writing.made.has(entity.name)) return undefined;
  if (writing.hooks && isHooked(writing.hooks, entity.name, 'create')) return undefined;
  const rows: PlainInput[] = [];
  for (const input of inputs) {
    const row = plainInput(writing, shape, input);
    if (!row) return undefined;
    const allowed = writeAccess(
      writing,
      writing.model.entity(shape.entity),
      row.fields,
      'CREATE',
      access,
    );
    if (allowed.kind === 'rows' && !isDirect(allowed.conditions)) return undefined;
    rows.push(row);
  }
  return rows;
}

/**
 * Writes one row. If its key is taken, everything that was written for the row is undone, and the
 * row is left out.
 */
async function unlessTaken(
  writing: Writing,
  create: (inner: Writing) => Promise<Key>,
): Promise<Key | null> {
  try {
    return await savepoint(writing, create);
  } catch (error) {
    if (isConflict(error)) return null;
    throw error;
  }
}

interface UpdateOptions {
  readonly args: Arguments;
  readonly access: Access;
}

type Choice = WhichRows & UpdateOptions;

/** The rows that the arguments name and that the caller may write, in the order of their keys. */
async function chosenRows(writing: Writing, entity: EntityModel, choice: Choice): Promise<Key[]> {
  const { ids, where: filter, args, access } = choice;
  const at = ids ?? filter?.arg ?? '';
  const given = args[at];
  if (ids !== undefined) assertFew(writing.model, listOf(given).length, at);
  else if (!filter || !restricts(writing.model, filter.shape, given))
    throw failure.invalid(`${at} must say which rows: it would name all of them`, {
      extensions: { field: at },
    });
  if (ids !== undefined && listOf(given).length === 0) return [];
  const rows = await selectRows(writing, entity, { filter, given, access });
  assertFew(writing.model, rows.length, at);
  return rows;
}

interface Selected {
  readonly filter: WhichRows['where'];
  readonly given: unknown;
  readonly access: Access;
}

async function selectRows(
  writing: Writing,
  entity: EntityModel,
  { filter, given, access }: Selected,
): Promise<Key[]> {
  const { model, rules, dialect, query } = writing;
  const calls = [{ equals: [], order: [], where: given }];
  const scope = createScope({ model, rules, dialect, calls, marker: '', tree: false });
  const { name: of, softDelete } = entity.entity;
  const alias = tableOf(writing, entity);
  if (filter) assertFilterSize(given);
  const condition = and([
    filter
      ? filterCondition(scope, filter.shape, given, { entity, alias, call: 0, path: ['where'] })
      : idIn(writing, entity, listOf(given)),
    softDelete ? sql`${reference(entity, alias, softDelete)} is null` : undefined,
    accessCondition(scope, of, access, alias),
    filter ? readable(writing, entity, scope, alias) : undefined,
  ]);
  const order = entity.key.map((column) => reference(entity, alias, column)).join(', ');
  const statement = toStatement(
    sql`select ${keyOf(writing, entity)} from ${alias}${where(condition)} order by ${order} limit ${String(limitOf(model) + 1)}`,
    scope,
  );
  const rows = await query(
    statement.text,
    bind(statement.parameters, model, dialect, {
      calls,
      rules,
    }),
  );
  return rows.map(({ id }) => String(id));
}

/**
 * The caller's filter is checked with their own rules: it does not find rows that they may not see.
 */
function readable(
  { rules }: Writing,
  { entity }: EntityModel,
  scope: ReturnType<typeof createScope>,
  alias: string,
): Sql | undefined {
  const access = rules.entity(entity, 'READ');
  if (access.kind === 'none') throw refusal(access.code);
  return accessCondition(scope, entity.name, access, alias);
}

/**
 * If the caller may not set a field in one of the rows, the mutation is refused, as an update of
 * that row alone would be.
 */
async function updateRows(
  writing: Writing,
  action: Extract<Action, { kind: 'updateMany' }>,
  ids: readonly Key[],
  { args, access }: UpdateOptions,
): Promise<Key[]> {
  const shape = found(writing.model.writes.get(action.write), `input ${action.write}`);
  const input = inputOf(args[action.input]);
  const changed: Key[] = [];
  for (const id of ids) if (await updateFrom(writing, shape, id, input, access)) changed.push(id);
  return changed;
}
