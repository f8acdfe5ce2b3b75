import { columnJson } from '../select/object.ts';
import type { JoinTable } from '../plan.ts';
import type { JoinKey, Field } from '@twofold/schema';
import { failure } from '../../errors.ts';
import { missing } from './belonging.ts';
import { rowCondition } from '../access/condition-sql.ts';
import { joinSql, sql, type Sql } from '../sql/fragment.ts';
import { keyType, propertyOf, type EntityModel } from '../model.ts';
import { isHooked } from './row-hooks.ts';
import {
  tableName,
  reference,
  joinColumns,
  bareSql,
  bare,
  and,
  ofType,
  where,
} from '../sql/scope.ts';
import { stored } from '../sql/stored-as.ts';
import { toStored } from '../sql/values.ts';
import {
  fieldsOf,
  tableOf,
  scopeOf,
  isVisible,
  keyOf as keySql,
  run,
  updateRow,
  valueOf,
  writeAccess,
  type Key,
  type Writer,
  type Writing,
} from './writer.ts';

/** One relation of one row, whose key is kept by the other side or by a join table. */
export interface Relation {
  readonly parent: EntityModel;
  readonly field: Field;
  readonly id: Key;
  /** Name of the input field, for messages. */
  readonly at: string;
}

type Source = Extract<Field['source'], { kind: 'one' | 'many' }>;

function sourceOf({ field, at }: Relation): Source {
  const { source } = field;
  if (source.kind === 'one' || source.kind === 'many') return source;
  throw failure.invalid(`${at} is not a relation`);
}

/** The join table of a many-to-many relation; undefined for other relations. */
const joinOf = (source: Source) =>
  source.kind === 'many' && source.via.kind === 'table' ? source.via : undefined;

/** The columns of a join table that hold one key, with their values. */
const joinedKey = (
  writing: Writing,
  of: EntityModel,
  columns: JoinKey,
  id: unknown,
): readonly [string, Sql] => [joinColumns(columns), valueOf(writing, of, 'id', id)];

/** The pair of keys in a join table. */
function pairOf(writing: Writing, relation: Relation, join: JoinTable, key: unknown) {
  const other = writing.model.entity(sourceOf(relation).entity);
  const [own, ownValue] = joinedKey(writing, relation.parent, join.own, relation.id);
  const [far, farValue] = joinedKey(writing, other, join.other, key);
  return {
    columns: `${bare(own)}, ${bare(far)}`,
    values: sql`${bareSql(ownValue)}, ${bareSql(farValue)}`,
  };
}

/** The rows of a join table that have this row's key. */
function ownPairs(writing: Writing, relation: Relation, join: JoinTable): Sql {
  const [own, value] = joinedKey(writing, relation.parent, join.own, relation.id);
  return sql`from ${tableName(join, writing.dialect)} where ${own} = ${value}`;
}

const insertPair = (writing: Writing, relation: Relation, join: JoinTable, key: unknown): Sql => {
  const { columns, values } = pairOf(writing, relation, join, key);
  return sql`insert into ${tableName(join, writing.dialect)} (${columns}) values (${values})`;
};

const keyColumn = (source: Source): string =>
  source.kind === 'one' ? source.column : source.via.kind === 'column' ? source.via.column : '';

/** The value by which the other table refers to this row: its key, or another unique column. */
function ownValue(
  writing: Writing,
  { parent, id }: Pick<Relation, 'parent' | 'id'>,
  source: Source,
): unknown {
  const to =
    source.kind === 'one' ? source.to : source.via.kind === 'column' ? source.via.to : undefined;
  return to === undefined ? id : referredValue(writing, parent, id, to);
}

/** The column `to` of a row, for a key that leads to another unique column than the key. */
export async function referredValue(
  writing: Writing,
  entity: EntityModel,
  id: unknown,
  to: string,
): Promise<unknown> {
  const table = tableOf(writing, entity);
  const source = { ref: (column: string) => reference(entity, table, column) };
  const value = columnJson(scopeOf(writing), entity.entity.name, to, source);
  const [row] = await run(
    writing,
    sql`select ${value} as value from ${table} where ${reference(entity, table, 'id')} = ${valueOf(writing, entity, 'id', id)}`,
  );
  return row?.['value'] ?? null;
}

/** The column values of a row in the other table that make it belong to this row. */
async function ownedValues(
  writing: Writing,
  relation: Pick<Relation, 'parent' | 'id'>,
  source: Source,
): Promise<Map<string, unknown>> {
  const type = keyType(source, relation.parent.entity.name);
  return new Map([
    [keyColumn(source), await ownValue(writing, relation, source)],
    ...(type ? [[type.column, type.type] as const] : []),
  ]);
}

/**
 * The key of a row that exists and that the caller may see.
 *
 * @throws AppError `BAD_USER_INPUT`
 */
export async function existing(
  writing: Writing,
  other: EntityModel,
  value: unknown,
  at: string,
): Promise<unknown> {
  const key = keyOf(writing, other, value, at);
  if (!isOpen(writing, other) && !(await isVisible(writing, other, key))) throw missing(other, at);
  return key;
}

/** Converts a value to a key. @throws AppError `BAD_USER_INPUT` when it cannot be one */
export function keyOf(
  { model, dialect }: Writer,
  other: EntityModel,
  value: unknown,
  at: string,
): unknown {
  const key = toStored(value, stored(model, other, 'id'), model.ids, dialect);
  if (key === null) throw missing(other, at);
  return key;
}

/** Whether the caller may see every row, so that the foreign key is the only check needed. */
export const isOpen = ({ rules }: Writer, { entity }: EntityModel) =>
  rules.entity(entity, 'READ').kind === 'all' && !entity.softDelete;

/** Links the rows of `keys` to the row. A to-one relation takes one, and unlinks its former row. */
export async function attach(
  writing: Writing,
  relation: Relation,
  keys: readonly unknown[],
): Promise<void> {
  const source = sourceOf(relation);
  const other = writing.model.entity(source.entity);
  const join = joinOf(source);
  if (keys.length > 0 && source.kind === 'one')
    await release(
      writing,
      relation,
      source,
      sql` and ${reference(other, tableOf(writing, other), 'id')} not in (${joinSql(
        keys.map((key) => valueOf(writing, other, 'id', key)),
        ', ',
      )})`,
    );
  for (const key of keys) {
    const target = await existing(writing, other, key, relation.at);
    if (join)
      await run(
        writing,
        sql`${insertPair(writing, relation, join, target)} on conflict do nothing`,
      );
    else await move(writing, relation, target);
  }
}

/** An update of a row of the other table, with its hooks. */
function changeColumns(
  writing: Writing,
  entity: EntityModel,
  id: unknown,
  values: Map<string, unknown>,
): Promise<boolean> {
  const { hooks, rules } = writing;
  const { name: of } = entity.entity;
  if (!hooks || !isHooked(hooks, of, 'update')) {
    const fields = fieldsOf(entity, values.keys());
    const base = rules.entity(entity.entity, 'UPDATE');
    const access = writeAccess(writing, entity, fields, 'UPDATE', base);
    return updateRow(writing, entity, id, { values }, access);
  }
  const input = [...values].map(([column, value]) => [
    propertyOf(entity, entity.column(column)),
    value,
  ]);
  return hooks.update(writing, hooks.shape(of, 'update'), id, Object.fromEntries(input));
}

/** Makes a row of the other table belong to this row, unless it belongs to it already. */
async function move(writing: Writing, relation: Relation, target: unknown): Promise<void> {
  const source = sourceOf(relation);
  const other = writing.model.entity(source.entity);
  const values = await ownedValues(writing, relation, source);
  const table = tableOf(writing, other);
  const linked = [...values, ['id', target] as const].map(
    ([column, value]) =>
      sql`${reference(other, table, column)} = ${valueOf(writing, other, column, value)}`,
  );
  const there = await run(writing, sql`select 1 from ${table} where ${joinSql(linked, ' and ')}`);
  if (there.length > 0) return;
  if (!(await changeColumns(writing, other, target, values))) throw missing(other, relation.at);
}

/** The rows that the caller may read; undefined for all of them. */
function seenCondition(writing: Writing, other: EntityModel, table: string): Sql | undefined {
  const access = writing.rules.entity(other.entity, 'READ');
  return rowCondition(scopeOf(writing), other.entity, access, table);
}

/** The pairs of a join table whose rows the caller may read: ` and …`. */
function seenPairs(writing: Writing, other: EntityModel, join: JoinTable): Sql {
  const table = tableOf(writing, other);
  const seen = seenCondition(writing, other, table);
  return seen
    ? sql` and ${joinColumns(join.other)} in (select ${bare(reference(other, table, 'id'))} from ${table} where ${seen})`
    : sql``;
}

/** Unlinks rows that belong to this row; each must be one that the caller may change. */
async function release(
  writing: Writing,
  { parent, id }: Relation,
  source: Source,
  which: Sql = sql``,
): Promise<void> {
  const other = writing.model.entity(source.entity);
  const table = tableOf(writing, other);
  const column = keyColumn(source);
  const type = ofType(keyType(source, parent.entity.name), other, table);
  const own = await ownValue(writing, { parent, id }, source);
  // The former row of a one-to-one relation is unlinked even if the caller may not see it, because
  // only one row can be linked.
  const seen = source.kind === 'many' ? seenCondition(writing, other, table) : undefined;
  const rows = await run(
    writing,
    sql`select ${keySql(writing, other)} from ${table} where ${reference(other, table, column)} = ${valueOf(writing, other, column, own)}${type ? sql` and ${type}` : ''}${which}${seen ? sql` and ${seen}` : ''}`,
  );
  const owned = await ownedValues(writing, { parent, id }, source);
  const nothing = new Map([...owned.keys()].map((each) => [each, null]));
  for (const row of rows) await changeColumns(writing, other, row['id'], nothing);
}

/** `disconnect: true`: unlinks the row of a to-one relation whose key the other side has. */
export const releaseAll = (writing: Writing, relation: Relation): Promise<void> =>
  release(writing, relation, sourceOf(relation));

/** Unlinks the rows of `keys` that belong to the row. */
export async function detach(
  writing: Writing,
  relation: Relation,
  keys: readonly unknown[],
): Promise<void> {
  if (keys.length === 0) return;
  const source = sourceOf(relation);
  const join = joinOf(source);
  const other = writing.model.entity(source.entity);
  const listed = joinSql(
    keys.map((key) => valueOf(writing, other, 'id', key)),
    ', ',
  );
  if (join)
    await run(
      writing,
      sql`delete ${ownPairs(writing, relation, join)} and ${joinColumns(join.other)} in (${listed})${seenPairs(writing, other, join)}`,
    );
  else {
    const key = reference(other, tableOf(writing, other), 'id');
    await release(writing, relation, source, sql` and ${key} in (${listed})`);
  }
}

/**
 * The key of a row that belongs to this row and that the caller may read, or null.
 *
 * @param key of the wanted row; any row of a to-one relation when absent.
 */
export async function relatedKey(
  writing: Writing,
  relation: Relation,
  key?: unknown,
): Promise<Key | null> {
  const source = sourceOf(relation);
  const other = writing.model.entity(source.entity);
  if (writing.rules.entity(other.entity, 'READ').kind === 'none') return null;
  const table = tableOf(writing, other);
  const wanted =
    key === undefined
      ? undefined
      : sql`${reference(other, table, 'id')} = ${valueOf(writing, other, 'id', key)}`;
  const condition = and([
    await belongsTo(writing, relation, source),
    wanted,
    seenCondition(writing, other, table),
  ]);
  const [row] = await run(
    writing,
    sql`select ${keySql(writing, other)} from ${table}${where(condition)}`,
  );
  return row ? String(row['id']) : null;
}

/** The condition that a row of the other table belongs to this row. */
async function belongsTo(writing: Writing, relation: Relation, source: Source): Promise<Sql> {
  const { parent, id } = relation;
  const other = writing.model.entity(source.entity);
  const theirs = (column: string) => reference(other, tableOf(writing, other), column);
  const join = joinOf(source);
  if (join)
    return sql`${theirs('id')} in (select ${bare(joinColumns(join.other))} ${ownPairs(writing, relation, join)})`;
  if (source.kind === 'one' && source.key === 'own') {
    const table = tableOf(writing, parent);
    const key = sql`${reference(parent, table, 'id')} = ${valueOf(writing, parent, 'id', id)}`;
    return sql`${theirs(source.to ?? 'id')} in (select ${bare(reference(parent, table, source.column))} from ${table} where ${key})`;
  }
  const column = keyColumn(source);
  const own = await ownValue(writing, relation, source);
  const type = ofType(keyType(source, parent.entity.name), other, tableOf(writing, other));
  const linked = sql`${theirs(column)} = ${valueOf(writing, other, column, own)}`;
  return and([linked, type]) ?? linked;
}

/** Creates a row that is linked to this row. `create` gets the columns that link it. */
export async function createUnder(
  writing: Writing,
  relation: Relation,
  create: (preset: ReadonlyMap<string, unknown>) => Promise<Key>,
): Promise<Key> {
  const source = sourceOf(relation);
  const join = joinOf(source);
  if (source.kind === 'one') await release(writing, relation, source);
  const key = await create(join ? new Map() : await ownedValues(writing, relation, source));
  if (join) await run(writing, insertPair(writing, relation, join, key));
  return key;
}

/** `tagIds: […]`: links exactly these rows. */
export async function replaceAll(
  writing: Writing,
  relation: Relation,
  keys: readonly unknown[] | null,
): Promise<void> {
  const source = sourceOf(relation);
  const other = writing.model.entity(source.entity);
  const targets: unknown[] = [];
  for (const key of new Set((keys ?? []).map(String)))
    targets.push(await existing(writing, other, key, relation.at));
  const kept =
    targets.length === 0
      ? undefined
      : joinSql(
          targets.map((target) => valueOf(writing, other, 'id', target)),
          ', ',
        );
  const key = reference(other, tableOf(writing, other), 'id');
  const join = joinOf(source);
  if (join)
    await run(
      writing,
      sql`delete ${ownPairs(writing, relation, join)}${kept ? sql` and ${joinColumns(join.other)} not in (${kept})` : ''}${seenPairs(writing, other, join)}`,
    );
  else await release(writing, relation, source, kept && sql` and ${key} not in (${kept})`);
  await attach(writing, relation, targets);
}
