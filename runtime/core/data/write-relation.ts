import type { Field } from '@twofold/schema';
import { failure } from '../errors.ts';
import { missing } from './belonging.ts';
import { joinSql, name, sql, type Sql } from './fragment.ts';
import { keyType, propertyOf, type EntityModel } from './model.ts';
import { isHooked } from './row-hooks.ts';
import { ofType } from './scope.ts';
import { stored } from './stored-as.ts';
import { toStored } from './values.ts';
import {
  isVisible,
  run,
  updateRow,
  valueOf,
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

/** The join table of a many-to-many relation. */
const joinOf = (source: Source) =>
  source.kind === 'many' && source.via.kind === 'table' ? source.via : undefined;

const keyColumn = (source: Source): string =>
  source.kind === 'one' ? source.column : source.via.kind === 'column' ? source.via.column : '';

/** The column values of a row in the other table that make it belong to this row. */
function ownedValues(relation: Relation, source: Source): Map<string, unknown> {
  const type = keyType(source, relation.parent.entity.name);
  return new Map([
    [keyColumn(source), relation.id],
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
      sql` and id not in (${joinSql(
        keys.map((key) => valueOf(writing, other, 'id', key)),
        ', ',
      )})`,
    );
  for (const key of keys) {
    const target = await existing(writing, other, key, relation.at);
    if (join)
      await run(
        writing,
        sql`insert into ${name(join.table)} (${name(join.own)}, ${name(join.other)}) values (${keyValue(relation.id)}, ${keyValue(target)}) on conflict do nothing`,
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
  const { hooks } = writing;
  const { name: of } = entity.entity;
  if (!hooks || !isHooked(hooks, of, 'update'))
    return updateRow(
      writing,
      entity,
      id,
      { values },
      writing.rules.entity(entity.entity, 'UPDATE'),
    );
  const input = [...values].map(([column, value]) => [
    propertyOf(entity, entity.column(column)),
    value,
  ]);
  return hooks.update(writing, hooks.shape(of, 'update'), id, Object.fromEntries(input));
}

/** Makes a row of the other table belong to this one, unless it does so already. */
async function move(writing: Writing, relation: Relation, target: unknown): Promise<void> {
  const source = sourceOf(relation);
  const other = writing.model.entity(source.entity);
  const values = ownedValues(relation, source);
  const linked = [...values].map(
    ([column, value]) => sql`${name(column)} = ${valueOf(writing, other, column, value)}`,
  );
  const there = await run(
    writing,
    sql`select id from ${name(other.entity.table)} where id = ${valueOf(writing, other, 'id', target)} and ${joinSql(linked, ' and ')}`,
  );
  if (there.length > 0) return;
  if (!(await changeColumns(writing, other, target, values))) throw missing(other, relation.at);
}

const keyValue = (value: unknown) =>
  sql`${{ from: 'value' as const, value, as: { type: 'id' as const } }}`;

/** Unlinks rows that belong to this row; each must be one that the caller may change. */
async function release(
  writing: Writing,
  { parent, id }: Relation,
  source: Source,
  which: Sql = sql``,
): Promise<void> {
  const other = writing.model.entity(source.entity);
  const table = name(other.entity.table);
  const type = ofType(keyType(source, parent.entity.name), table);
  const rows = await run(
    writing,
    sql`select id from ${table} where ${name(keyColumn(source))} = ${keyValue(id)}${type ? sql` and ${type}` : ''}${which}`,
  );
  const nothing = new Map(
    [...ownedValues({ parent, id } as Relation, source).keys()].map((column) => [column, null]),
  );
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
  const listed = joinSql(
    keys.map((key) => valueOf(writing, writing.model.entity(source.entity), 'id', key)),
    ', ',
  );
  if (join)
    await run(
      writing,
      sql`delete from ${name(join.table)} where ${name(join.own)} = ${keyValue(relation.id)} and ${name(join.other)} in (${listed})`,
    );
  else await release(writing, relation, source, sql` and id in (${listed})`);
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
  const key = await create(join ? new Map() : ownedValues(relation, source));
  if (join)
    await run(
      writing,
      sql`insert into ${name(join.table)} (${name(join.own)}, ${name(join.other)}) values (${keyValue(relation.id)}, ${keyValue(key)})`,
    );
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
  const kept = targets.length === 0 ? undefined : joinSql(targets.map(keyValue), ', ');
  const join = joinOf(source);
  if (join)
    await run(
      writing,
      sql`delete from ${name(join.table)} where ${name(join.own)} = ${keyValue(relation.id)}${kept ? sql` and ${name(join.other)} not in (${kept})` : ''}`,
    );
  else await release(writing, relation, source, kept && sql` and id not in (${kept})`);
  await attach(writing, relation, targets);
}
