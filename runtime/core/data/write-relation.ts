import type { Field } from '@twofold/schema';
import { failure } from '../errors.ts';
import { joinSql, name, sql, type Sql } from './fragment.ts';
import { keyType, type EntityModel } from './model.ts';
import { ofType, stored } from './scope.ts';
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

/** The join table of two lists. */
const joinOf = (source: Source) =>
  source.kind === 'many' && source.via.kind === 'table' ? source.via : undefined;

const keyColumn = (source: Source): string =>
  source.kind === 'one' ? source.column : source.via.kind === 'column' ? source.via.column : '';

/** What a row of the other table holds when it belongs to the row here. */
function ownedValues(relation: Relation, source: Source): Map<string, unknown> {
  const type = keyType(source, relation.parent.entity.name);
  return new Map([
    [keyColumn(source), relation.id],
    ...(type ? [[type.column, type.type] as const] : []),
  ]);
}

/**
 * A key of a row that is there, as far as the caller can see.
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

/** A value that can be a key. @throws AppError `BAD_USER_INPUT` */
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

/** Without rules about rows the foreign key itself is the check. */
export const isOpen = ({ rules }: Writer, { entity }: EntityModel) =>
  rules.entity(entity, 'READ').kind === 'all' && !entity.softDelete;

/** @example missing(author, 'authorId').message // 'authorId: there is no such Author' */
export const missing = ({ entity }: EntityModel, at: string) =>
  failure.invalid(`${at}: there is no such ${entity.name}`, {
    extensions: { reason: 'RELATION', field: at },
  });

/** Lets the rows of `keys` belong to the row. Of a single relation there can be one: what belonged before is let go. */
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
    else if (
      !(await updateRow(
        writing,
        other,
        target,
        ownedValues(relation, source),
        writing.rules.entity(other.entity, 'UPDATE'),
      ))
    )
      throw missing(other, relation.at);
  }
}

const keyValue = (value: unknown) =>
  sql`${{ from: 'value' as const, value, as: { type: 'id' as const } }}`;

/** Lets rows that belong here belong nowhere, each as far as the caller may change it. */
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
  for (const row of rows)
    await updateRow(
      writing,
      other,
      row['id'],
      nothing,
      writing.rules.entity(other.entity, 'UPDATE'),
    );
}

/** Lets the rows of `keys` go, if they belong to the row. */
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

/** Lets a new row belong to the row. `create` is given the columns that say so. */
export async function createUnder(
  writing: Writing,
  relation: Relation,
  create: (preset: ReadonlyMap<string, unknown>) => Promise<Key>,
): Promise<void> {
  const source = sourceOf(relation);
  const join = joinOf(source);
  if (source.kind === 'one') await release(writing, relation, source);
  const key = await create(join ? new Map() : ownedValues(relation, source));
  if (join)
    await run(
      writing,
      sql`insert into ${name(join.table)} (${name(join.own)}, ${name(join.other)}) values (${keyValue(relation.id)}, ${keyValue(key)})`,
    );
}

/** `tagIds: […]`: these and no others. */
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
