import { uuid7 } from '../store/uuid7.ts';
import type { Access } from './access.ts';
import { joinSql, name, sql } from './fragment.ts';
import type { EntityModel } from './model.ts';
import type { PlainInput } from './write-input.ts';
import { completeRow, run, valueOf, writeAccess, type Key, type Writing } from './writer.ts';

interface InsertOptions {
  readonly access: Access;
  /** Whether rows whose key is taken are left out. */
  readonly skip: boolean;
}

/** Rows of one statement. Only these numbers are used, so that few texts have to be prepared. */
const SIZES = [100, 10, 1];

/** Inserts rows of columns alone. @returns their keys, in the order of the rows. */
export async function insertPlainRows(
  writing: Writing,
  entity: EntityModel,
  plain: readonly PlainInput[],
  { access, skip }: InsertOptions,
): Promise<Key[]> {
  const keys = newKeys(writing, plain.length);
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
    const size = columns.length === 0 ? 1 : largest(rows.length - at);
    ids.push(...(await insertPart(writing, entity, rows.slice(at, at + size), { columns, skip })));
    at += size;
  }
  for (const id of ids) writing.changes.push({ entity: entity.entity.name, kind: 'created', id });
  return ids;
}

const largest = (left: number) => SIZES.find((size) => size <= left) ?? 1;

/** Keys that sort in the order of the rows. The database makes integers, which do so anyway. */
function newKeys({ model, now }: Writing, count: number): string[] | undefined {
  return model.ids === 'uuid' ? Array.from({ length: count }, () => uuid7(now)).sort() : undefined;
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
  const target = name(entity.entity.table);
  const values = rows.map(
    (row) =>
      sql`(${joinSql(
        columns.map((column) => valueOf(writing, entity, column, row.get(column) ?? null)),
        ', ',
      )})`,
  );
  const conflict = skip ? ' on conflict do nothing' : '';
  const inserted = await run(
    writing,
    columns.length === 0
      ? sql`insert into ${target} default values returning id`
      : sql`insert into ${target} (${columns.map(name).join(', ')}) values ${joinSql(values, ', ')}${conflict} returning id`,
  );
  return inOrder(
    inserted.map(({ id }) => String(id)),
    rows,
  );
}

/** `returning` promises no order. */
function inOrder(ids: readonly Key[], rows: readonly ReadonlyMap<string, unknown>[]): Key[] {
  const given = rows.map((row) => row.get('id')).filter((id) => id !== undefined);
  if (given.length === 0) return [...ids].sort((a, b) => Number(a) - Number(b));
  const inserted = new Set(ids);
  return given.map(String).filter((id) => inserted.has(id));
}
