import { type Kysely, sql } from 'kysely';
import { findDifference } from '../../../generator/migrations/difference.ts';
import type { Migration } from '../../../runtime/core/store/migrations/migration.ts';
import type { ColumnType, Table, TableColumn } from '../../../schema/index.ts';
import { renderMigration } from '../../../templates/migration.ts';
import type { Random } from '../random.ts';
import { isOfKey } from './random-keys.ts';
import { changeTables, type Walk } from './random-tables.ts';
import { evaluateMigration } from './run-migration.ts';

/** Tables of more than three rows are large, so that most changes run online on PostgreSQL. */
export const SETTINGS = { lockTimeout: 2_000, onlineFrom: 3 };

/** A change of the model, half of them without regard for the rows that are there. */
export function anyChange(walk: Walk, random: Random): Walk {
  if (walk.tables.length === 0 || random.chance(0.5)) return changeTables(walk, random);
  const table = random.pick(walk.tables);
  const victim = random.pick(
    table.columns.filter((each) => !each.references && !isOfKey(table, each)),
  );
  if (!victim) return changeTables(walk, random);
  const changed = { ...random.pick([narrowed, requiredNow, uniqueNow])(victim, random) };
  const columns = table.columns.map((each) => (each === victim ? changed : each));
  const tables = walk.tables.map((each) => (each === table ? { ...table, columns } : each));
  return { ...walk, tables };
}

type Change = (column: TableColumn, random: Random) => TableColumn;

const TYPES: readonly ColumnType[] = ['text', 'integer', 'real', 'date', 'decimal', 'boolean'];

const narrowed: Change = ({ name, required, unique }, random) => ({
  name,
  type: random.pick(TYPES),
  required,
  unique,
});
const requiredNow: Change = (column) => ({ ...column, required: true });
const uniqueNow: Change = (column) => ({ ...column, unique: true });

export interface NamedMigration extends Migration {
  readonly text: string;
}

/** The migration from one list of tables to the next; null when nothing differs. */
export function migrationBetween(before: Walk, after: Walk, number: number): NamedMigration | null {
  const { steps } = findDifference(before.tables, after.tables, { allowDrop: () => true });
  if (steps.length === 0) return null;
  const text = renderMigration(steps, { ids: 'integer' });
  const name = `${String(number).padStart(4, '0')}_change`;
  return { name, text, ...evaluateMigration(text) };
}

/** All rows of these tables, with every value. */
export async function rowsOf(db: Kysely<any>, tables: readonly Table[]) {
  const rows: Record<string, unknown> = {};
  for (const { name, primaryKey } of tables)
    rows[name] = await db
      .selectFrom(name)
      .selectAll()
      .orderBy(sql.join(primaryKey.map((column) => sql.ref(column))))
      .execute();
  return rows;
}
