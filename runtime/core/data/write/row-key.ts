import type { RowKey } from '@twofold/schema';
import { failure, AppError } from '../../errors.ts';
import { refusal, type Access } from '../access/access.ts';
import { toFailure } from './database-failure.ts';
import { joinSql, sql, type Sql } from '../sql/fragment.ts';
import { fieldOfColumn, type EntityModel } from '../model.ts';
import { accessCondition } from '../access/condition-sql.ts';
import { and, or, reference, where } from '../sql/scope.ts';
import {
  tableOf,
  keyOf,
  run,
  savepoint,
  scopeOf,
  valueOf,
  type Key,
  type Writing,
} from './writer.ts';

/** The columns of one unique key with their values. */
export type KeyValues = ReadonlyMap<string, unknown>;

/**
 * The unique key that the arguments give.
 *
 * @param at name of the argument, for messages.
 * @throws AppError `BAD_USER_INPUT` when they give none, or parts of several.
 * @example givenKey([{ slug: 'slug' }], { slug: 'a' }, 'where') // Map { 'slug' => 'a' }
 */
export function givenKey(by: RowKey, args: unknown, at: string): KeyValues {
  const paths = [...new Set(by.flatMap((key) => Object.keys(key)))];
  const given = paths.filter((path) => isGiven(valueAt(args, path)));
  const key = by.find((each) => {
    const own = Object.keys(each);
    return own.length === given.length && own.every((path) => given.includes(path));
  });
  if (!key) throw unclear(by, at);
  return new Map(Object.entries(key).map(([path, column]) => [column, valueAt(args, path)]));
}

const isGiven = (value: unknown) => value !== undefined && value !== null;

const valueAt = (args: unknown, path: string): unknown =>
  path.split('.').reduce<any>((value, step) => value?.[step], args);

function unclear(by: RowKey, at: string): AppError {
  const names = by.map((key) =>
    Object.keys(key)
      .map((path) => path.slice(path.lastIndexOf('.') + 1))
      .join(' and '),
  );
  const message =
    names.length === 1
      ? `${at} must have ${names[0]}`
      : `${at} must have exactly one of ${names.join(', ')}`;
  return failure.invalid(message, { extensions: { field: at } });
}

/**
 * The id of the row with the key, or null. Access to the row is not checked, but a field that the
 * caller may not read finds nothing: a lookup would reveal whose it is.
 */
export async function locate(
  writing: Writing,
  entity: EntityModel,
  key: KeyValues,
  more?: Sql,
): Promise<Key | null> {
  const table = tableOf(writing, entity);
  const { softDelete } = entity.entity;
  const live = softDelete ? sql`${reference(entity, table, softDelete)} is null` : undefined;
  const conditions = [...key].map(
    ([column, value]) =>
      sql`${reference(entity, table, column)} = ${valueOf(writing, entity, column, value)}`,
  );
  const readable = [...key.keys()].flatMap((column) => readableBy(writing, entity, column));
  const rows = await run(
    writing,
    sql`select ${keyOf(writing, entity)} from ${table}${where(and([...conditions, ...readable, live, more]))}`,
  );
  return rows[0] ? String(rows[0]['id']) : null;
}

function readableBy(writing: Writing, entity: EntityModel, column: string): Sql[] {
  const field = column === 'id' ? undefined : fieldOfColumn(entity, column);
  const access = field && writing.rules.field(entity.entity, field, 'READ');
  if (access?.kind === 'none') throw refusal(access.code);
  const table = tableOf(writing, entity);
  const { name: of } = entity.entity;
  const condition = access && accessCondition(scopeOf(writing), of, access, table);
  return condition ? [condition] : [];
}

/** A row that was looked for by its key. */
export interface Located {
  readonly id: Key;
  readonly created: boolean;
}

/** The row that `findOrCreate` looks for. */
interface Sought {
  readonly key: KeyValues;
  /**
   * What the caller may do with the row: one of these is enough. A row that they may not use is
   * treated as if it did not exist.
   */
  readonly usable: readonly Access[];
}

function usableBy(writing: Writing, model: EntityModel, usable: Sought['usable']) {
  const { entity } = model;
  if (usable.some(({ kind }) => kind === 'all')) return undefined;
  const scope = scopeOf(writing);
  const conditions = usable
    .filter(({ kind }) => kind === 'rows')
    .map(
      (access) => accessCondition(scope, entity.name, access, tableOf(writing, model)) ?? sql`true`,
    );
  return conditions.length === 0 ? undefined : or(conditions);
}

/**
 * Finds the row with the key, or creates it. However many callers do so at the same time, there is
 * one row, and none of them gets an error.
 *
 * SQLite has one writer. On PostgreSQL callers with the same key wait for each other. If other
 * code creates the row meanwhile, the insert reports a conflict and the row is read again.
 */
export async function findOrCreate(
  writing: Writing,
  entity: EntityModel,
  { key, usable }: Sought,
  create: (writing: Writing) => Promise<Key>,
): Promise<Located> {
  const find = () => locate(writing, entity, key, usableBy(writing, entity, usable));
  const before = await find();
  if (before !== null) return { id: before, created: false };
  if (writing.dialect === 'sqlite') return { id: await create(writing), created: true };
  await waitForTurn(writing, entity, key);
  const now = await find();
  if (now !== null) return { id: now, created: false };
  try {
    return { id: await savepoint(writing, create), created: true };
  } catch (error) {
    const after = isConflict(error) ? await find() : null;
    if (after === null) throw error;
    return { id: after, created: false };
  }
}

/** Whether the database has refused a key that is taken. A hook that refuses a row says no such thing. */
export const isConflict = (error: unknown): boolean =>
  !(error instanceof AppError) && toFailure(error)?.code === 'CONFLICT';

/** Holds a lock of PostgreSQL for the key until the transaction ends. */
async function waitForTurn(writing: Writing, { entity }: EntityModel, key: KeyValues) {
  const text = JSON.stringify([entity.table, ...[...key].map((part) => part.map(String))]);
  const value = { from: 'value' as const, value: text, as: { type: 'text' as const } };
  await run(
    writing,
    sql`select pg_advisory_xact_lock(hashtextextended(current_schema() || ${value}, 0))`,
  );
}

/** The columns of a key for a new row: ids that the database makes are left out. */
export function keyColumns({ columns }: EntityModel, key: KeyValues): KeyValues {
  const made = columns.get('id')?.default?.kind;
  return new Map(
    [...key].filter(([column]) => column !== 'id' || made === 'uuid' || made === undefined),
  );
}

/** The condition `id in (…)`. */
export const idIn = (writing: Writing, entity: EntityModel, ids: readonly unknown[]): Sql =>
  sql`${reference(entity, tableOf(writing, entity), 'id')} in (${joinSql(
    ids.map((id) => valueOf(writing, entity, 'id', id)),
    ', ',
  )})`;
