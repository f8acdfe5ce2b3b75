import { uuid7 } from '../../store/uuid7.ts';
import type { Access } from '../access/access.ts';
import { joinSql, sql } from '../sql/fragment.ts';
import type { EntityModel } from '../model.ts';
import type { PlainInput } from './write-input.ts';
import {
  tableOf,
  keyOf,
  cellsOfRow,
  completeRow,
  run,
  writeAccess,
  type Key,
  type Writing,
} from './writer.ts';

interface InsertOptions {
  readonly access: Access;
  /** Whether rows whose key is taken are left out. */
  readonly skip: boolean;
}

/**
 * How many rows one statement inserts. With only these numbers, few statements have to be prepared.
 */
const SIZES = [100, 10, 1];

/** Inserts rows whose inputs set only columns. @returns their keys, in the order of the rows. */
export async function insertPlainRows(
  writing: Writing,
  entity: EntityModel,
  plain: readonly PlainInput[],
  { access, skip }: InsertOptions,
): Promise<Key[]> {
  const keys = newKeys(writing, entity, plain.length);
  const rows = plain.map((row, index) => {
    if (keys && row.values.get('id') === undefined) row.values.set('id', keys[index]);
    return completeRow(
      writing,
      entity,
      row,
      writeAccess(writing, entity, row.fields, 'CREATE', access),
    );
  });
  const columns = [...new Set(rows.flatMap((row) => [...row.keys()]))];
  const ids: Key[] = [];
  for (let at = 0; at < rows.length;) {
    const size = columns.length === 0 || !isSortable(entity) ? 1 : largest(rows.length - at);
    ids.push(...(await insertPart(writing, entity, rows.slice(at, at + size), { columns, skip })));
    at += size;
  }
  for (const id of ids) writing.changes.push({ entity: entity.entity.name, kind: 'created', id });
  return ids;
}

const largest = (left: number) => SIZES.find((size) => size <= left) ?? 1;

/**
 * Whether the order of the rows can be told from their keys, which a statement returns in any
 * order.
 */
const isSortable = ({ columns }: EntityModel) => {
  const id = columns.get('id');
  return id?.parts === undefined && id?.key === undefined && id?.default?.kind !== 'database';
};

/** Keys whose order is that of the rows. Integer keys are made by the database, in that order. */
function newKeys({ now }: Writing, { columns }: EntityModel, count: number): string[] | undefined {
  const isMade = columns.get('id')?.default?.kind === 'uuid';
  return isMade ? Array.from({ length: count }, () => uuid7(now)).sort() : undefined;
}

interface Part {
  readonly columns: readonly string[];
  readonly skip: boolean;
}

async function insertPart(
  writing: Writing,
  entity: EntityModel,
  rows: readonly ReadonlyMap<string, unknown>[],
  { columns, skip }: Part,
): Promise<Key[]> {
  const target = tableOf(writing, entity);
  const cells = rows.map((row) =>
    cellsOfRow(
      writing,
      entity,
      new Map(columns.map((column) => [column, row.get(column) ?? null])),
    ),
  );
  const names = cells[0]?.map(({ column }) => column).join(', ') ?? '';
  const values = cells.map(
    (row) =>
      sql`(${joinSql(
        row.map(({ value }) => value),
        ', ',
      )})`,
  );
  const id = keyOf(writing, entity);
  const conflict = skip ? ' on conflict do nothing' : '';
  const inserted = await run(
    writing,
    columns.length === 0
      ? sql`insert into ${target} default values returning ${id}`
      : sql`insert into ${target} (${names}) values ${joinSql(values, ', ')}${conflict} returning ${id}`,
  );
  const ids = inserted.map(({ id: key }) => String(key));
  return rows.length === 1 ? ids : inOrder(ids, rows);
}

/** The keys in the order of the inserted rows, because SQL promises no order for `returning`. */
function inOrder(ids: readonly Key[], rows: readonly ReadonlyMap<string, unknown>[]): Key[] {
  const given = rows.map((row) => row.get('id')).filter((id) => id !== undefined);
  if (given.length === 0) return [...ids].sort((a, b) => Number(a) - Number(b));
  const inserted = new Set(ids);
  return given.map(String).filter((id) => inserted.has(id));
}
