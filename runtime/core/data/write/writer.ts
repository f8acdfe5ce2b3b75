import { rowSql, cellsOf, assignedSql } from '../sql/cells.ts';
import { RowSwallowed } from './database-failure.ts';
import type { Cell } from '../sql/cells.ts';
import type { Verb } from '@twofold/schema';
import { failure } from '../../errors.ts';
import { both, refusal, type Access } from '../access/access.ts';
import {
  assertNoChange,
  assertResults,
  Change,
  changedSql,
  refusedResult,
  resultsSql,
} from './change.ts';
import { assertStays, assertWithin, belong } from './belonging.ts';
import { valueSql, sql, toStatement, type Sql } from '../sql/fragment.ts';
import { columnsOf, isStated } from '../access/row-condition.ts';
import { fieldOfColumn, found, type EntityModel } from '../model.ts';
import { bind } from '../reader.ts';
import { accessCondition } from '../access/condition-sql.ts';
import {
  tableName,
  keyOfRow,
  columnName,
  and,
  createScope,
  reference,
  where,
  type Scope,
} from '../sql/scope.ts';
import { stored } from '../sql/stored-as.ts';
import { currentTime, fill, nextVersion, versionColumn } from './kept-columns.ts';
import type { Given, Key, KnownRow, Values, Writer, Writing } from './writing.ts';

export type { Given, Key, KnownRow, Values, Writer, Writing } from './writing.ts';

/** Runs a statement of a transaction. */
export function run(writing: Writing, statement: Sql): Promise<readonly Record<string, unknown>[]> {
  const { text, parameters } = toStatement(statement, writing);
  const values = bind(parameters, writing.model, writing.dialect, {
    rules: writing.rules,
  });
  return writing.query(text, values);
}

/** One name is enough: inside a savepoint of the same name, the name means the inner one. */
const SAVEPOINT = 'twofold_row';

/** Runs `work` in a savepoint: a throw undoes what it wrote, and none of it is announced. */
export async function savepoint<T>(
  writing: Writing,
  work: (inner: Writing) => Promise<T>,
): Promise<T> {
  const changes: Writing['changes'] = [];
  const checks: Writing['checks'] = [];
  const committed: Writing['committed'] = [];
  await writing.query(`savepoint ${SAVEPOINT}`, []);
  try {
    const done = await work({ ...writing, changes, checks, committed });
    await writing.query(`release savepoint ${SAVEPOINT}`, []);
    writing.changes.push(...changes);
    writing.checks.push(...checks);
    writing.committed.push(...committed);
    return done;
  } catch (error) {
    await writing.query(`rollback to savepoint ${SAVEPOINT}`, []);
    await writing.query(`release savepoint ${SAVEPOINT}`, []);
    throw error;
  }
}

/** A value for a column, as a parameter in a statement. */
export function valueOf(
  writing: Writing,
  entity: EntityModel,
  column: string,
  value: unknown,
): Sql {
  return valueSql(stored(writing.model, entity, column), (as) => ({ from: 'value', value, as }));
}

/** The columns and values that a statement writes. */
export const cellsOfRow = (writing: Writing, entity: EntityModel, values: Values): Cell[] =>
  cellsOf(writing.model, entity, [...values.keys()], (column, as) => ({
    from: 'value',
    value: values.get(column),
    as,
  }));

/** The entity's table in a statement of this transaction. */
export const tableOf = ({ dialect }: Pick<Writing, 'dialect'>, { entity }: EntityModel): string =>
  tableName(entity, dialect);

/** ` returning …` with the key of the row. */
export const keyOf = (writing: Writing, entity: EntityModel): Sql =>
  sql`${keyOfRow(writing, entity, tableOf(writing, entity))} as id`;

export function scopeOf({ model, rules, dialect }: Writing): Scope {
  return createScope({ model, rules, dialect, calls: [], marker: '', tree: false });
}

/**
 * The columns of a new row: those of the input, those that the server fills in, and the owner when
 * the input does not name one.
 *
 * @throws AppError see `belong`
 */
export function completeRow(
  writer: Writer,
  entity: EntityModel,
  given: Given,
  access: Access,
): Values {
  if (access.kind === 'none') throw refusal(access.code);
  assertNoChange(given.values.values());
  const values = new Map(given.values);
  belong(writer, entity, { ...given, values }, access);
  for (const column of entity.entity.columns)
    if (values.get(column.name) === undefined) fill(writer, values, column);
  for (const [column, value] of values) if (value === undefined) values.delete(column);
  return values;
}

/** Inserts a row. @throws AppError see `completeRow` */
export async function insertRow(
  writing: Writing,
  entity: EntityModel,
  given: Given,
  access: Access,
): Promise<Key> {
  const values = new Map(completeRow(writing, entity, given, access));
  await assertWithin(writing, entity, { ...given, values }, access);
  const target = tableOf(writing, entity);
  const row = values.size === 0 ? 'default values' : rowSql(cellsOfRow(writing, entity, values));
  const [inserted] = await run(
    writing,
    sql`insert into ${target} ${row} returning ${keyOf(writing, entity)}`,
  );
  if (!inserted) throw new RowSwallowed();
  const id = String(inserted['id']);
  note(writing, entity, 'created', id);
  checkAtEnd(writing, entity, id, statedOf(access));
  const joined = await writing.made
    .get(entity.entity.name)
    ?.made({ id, caller: writing.rules.caller, request: writing.request });
  // Who makes an organization may fill it in the same write.
  if (joined) writing.rules = writing.rules.joined(joined);
  return id;
}

/**
 * Updates a row, if it exists and the caller may change it.
 *
 * @returns whether the row exists.
 * @throws AppError `FORBIDDEN` when the caller may see the row but not change it, or would make
 * another user its owner; `CONFLICT` when they have read another version of it.
 */
export async function updateRow(
  writing: Writing,
  entity: EntityModel,
  id: unknown,
  given: Given,
  access: Access,
): Promise<boolean> {
  if (access.kind === 'none') throw refusal(access.code);
  await assertStays(writing, entity, given, access);
  const changes = [...given.values.values()].filter((value) => value instanceof Change);
  const values = new Map([...given.values].filter(([, value]) => !(value instanceof Change)));
  const version = versionColumn(entity);
  const row = { id, version: (version && values.get(version.name)) ?? undefined };
  if (version) values.delete(version.name);
  for (const column of entity.entity.columns)
    if (column.stamp === 'updated' && !values.has(column.name))
      values.set(column.name, currentTime(column, writing.now));
  const condition = rowOf(writing, entity, row, access);
  const table = tableOf(writing, entity);
  const cells = [
    ...cellsOfRow(writing, entity, values),
    ...(version ? [nextVersion(entity, version)] : []),
    ...changes.map((change) => ({
      column: columnName(entity, change.column.name),
      value: changedSql(writing, entity, change),
    })),
  ];
  const rows = await run(
    writing,
    cells.length === 0
      ? sql`select ${keyOf(writing, entity)} from ${table}${where(condition)}`
      : sql`update ${table} set ${assignedSql(cells)}${where(condition)} returning ${keyOf(writing, entity)}${resultsSql(entity, changes)}`,
  ).catch((error: unknown) => refusedResult(changes, error));
  assertResults(changes, rows[0]);
  if (rows.length === 0) return explainAbsence(writing, entity, row, access);
  if (
    access.kind === 'rows' &&
    !isStated(access.conditions) &&
    columnsOf(access.conditions).some((column) => given.values.has(column))
  )
    await assertStillOwned(writing, entity, id, access);
  note(writing, entity, 'updated', String(rows[0]?.['id']));
  checkAtEnd(writing, entity, id, access);
  return true;
}

/**
 * Deletes a row, or marks it as deleted when the entity has soft deletes. @returns whether the row
 * existed.
 */
export async function deleteRow(
  writing: Writing,
  entity: EntityModel,
  row: KnownRow,
  access: Access,
): Promise<boolean> {
  if (access.kind === 'none') throw refusal(access.code);
  const { softDelete } = entity.entity;
  const table = tableOf(writing, entity);
  const condition = rowOf(writing, entity, row, access);
  const mark =
    softDelete &&
    sql`update ${table} set ${columnName(entity, softDelete)} = ${{ from: 'value', value: new Date(writing.now).toISOString(), as: stored(writing.model, entity, softDelete) }}${where(condition)} returning ${keyOf(writing, entity)}`;
  const rows = await run(
    writing,
    mark || sql`delete from ${table}${where(condition)} returning ${keyOf(writing, entity)}`,
  );
  if (rows.length === 0) return explainAbsence(writing, entity, row, access);
  await writing.made.get(entity.entity.name)?.removed({
    id: String(rows[0]?.['id']),
    caller: writing.rules.caller,
    request: writing.request,
  });
  return true;
}

/** The row with this key, if `access` allows it and it has the version that the caller has read. */
function rowOf(
  writing: Writing,
  entity: EntityModel,
  { id, version }: KnownRow<unknown>,
  access: Access,
): Sql {
  const { name: of, softDelete } = entity.entity;
  const table = tableOf(writing, entity);
  const key = sql`${reference(entity, table, 'id')} = ${valueOf(writing, entity, 'id', id)}`;
  const live = softDelete ? sql`${reference(entity, table, softDelete)} is null` : undefined;
  const { name = '' } = versionColumn(entity) ?? {};
  const read =
    version === undefined
      ? undefined
      : sql`${reference(entity, table, name)} = ${valueOf(writing, entity, name, version)}`;
  return and([key, live, read, accessCondition(scopeOf(writing), of, access, table)]) ?? key;
}

/**
 * A row that the caller can see but not change is forbidden; one that they cannot see does not
 * exist for them.
 */
async function explainAbsence(
  writing: Writing,
  entity: EntityModel,
  { id, version }: KnownRow<unknown>,
  access: Access,
): Promise<false> {
  if (version !== undefined) await assertVersion(writing, entity, { id, version }, access);
  // The caller may write all rows, so a row that was not changed was kept by a trigger.
  if (access.kind === 'all') return false;
  if (await isVisible(writing, entity, id)) throw failure.forbidden();
  return false;
}

/** @throws AppError `CONFLICT` when there is a row that the caller may write, with another version */
async function assertVersion(
  writing: Writing,
  entity: EntityModel,
  { id, version }: KnownRow<unknown>,
  access: Access,
): Promise<void> {
  const { name, field = '' } = found(versionColumn(entity), 'version');
  const [row] = await run(
    writing,
    sql`select ${columnName(entity, name)} as version from ${tableOf(writing, entity)}${where(rowOf(writing, entity, { id }, access))}`,
  );
  const current = Number(row?.['version'] ?? version);
  if (current === version) return;
  const reading = writing.rules.entity(entity.entity, 'READ');
  const readable = writeAccess(writing, entity, [field], 'READ', reading);
  const isShown = readable.kind !== 'none' && (await isWritable(writing, entity, id, readable));
  throw failure.conflict(
    `${entity.entity.name} was changed since it was read${isShown ? `: its version is ${current}` : ''}`,
    { extensions: { reason: 'VERSION', ...(isShown && { current }) } },
  );
}

/** Whether the caller may read the row. */
export async function isVisible(
  writing: Writing,
  entity: EntityModel,
  id: unknown,
): Promise<boolean> {
  const access = writing.rules.entity(entity.entity, 'READ');
  return access.kind !== 'none' && isWritable(writing, entity, id, access);
}

/**
 * Adds a check at the end of the transaction: conditions of the schema must hold for the row after
 * the whole mutation.
 */
function checkAtEnd(writing: Writing, entity: EntityModel, id: unknown, access: Access): void {
  if (access.kind === 'rows' && isStated(access.conditions))
    writing.checks.push(() => assertStillOwned(writing, entity, id, access));
}

/**
 * Keeps only the conditions that the schema states. The others are checked before the row is
 * inserted.
 */
const statedOf = (access: Access): Access =>
  access.kind === 'rows'
    ? { kind: 'rows', conditions: access.conditions.filter((any) => isStated([any])) }
    : access;

async function assertStillOwned(
  writing: Writing,
  entity: EntityModel,
  id: unknown,
  access: Access,
): Promise<void> {
  if (!(await isWritable(writing, entity, id, access))) throw failure.forbidden();
}

/**
 * Whether there is a row that the caller may write.
 *
 * @throws AppError `FORBIDDEN` for a row that they may only see.
 */
export async function isThere(
  writing: Writing,
  entity: EntityModel,
  id: unknown,
  access: Access,
): Promise<boolean> {
  if (access.kind === 'none') throw refusal(access.code);
  return (
    (await isWritable(writing, entity, id, access)) ||
    explainAbsence(writing, entity, { id }, access)
  );
}

/** Whether there is a row with this key that `access` allows. */
export async function isWritable(
  writing: Writing,
  entity: EntityModel,
  id: unknown,
  access: Access,
): Promise<boolean> {
  const rows = await run(
    writing,
    sql`select 1 from ${tableOf(writing, entity)}${where(rowOf(writing, entity, { id }, access))}`,
  );
  return rows.length > 0;
}

/** What the caller may do with the entity and with each field that they set. */
export function writeAccess(
  writing: Writer,
  entity: EntityModel,
  fields: readonly string[],
  verb: Verb,
  base: Access,
): Access {
  return fields.reduce<Access>((access, fieldName) => {
    const field = entity.fields.get(fieldName);
    return field ? both(access, writing.rules.field(entity.entity, field, verb)) : access;
  }, base);
}

/** The names of the fields that show the columns. */
export const fieldsOf = (entity: EntityModel, columns: Iterable<string>): string[] =>
  [...columns].flatMap((column) => fieldOfColumn(entity, column)?.name ?? []);

export function note(
  writing: Writing,
  { entity }: EntityModel,
  kind: 'created' | 'updated',
  id: string,
): void {
  if (!writing.changes.some((change) => change.entity === entity.name && change.id === id))
    writing.changes.push({ entity: entity.name, kind, id });
}
