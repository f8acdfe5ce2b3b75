import { type Kysely, sql } from 'kysely';
import type { Fold } from '@twofold/schema';
import { AppError } from '@twofold/runtime/errors';
import { dialectOf, folded, type FoldedIndex } from '@twofold/runtime/store';
import { asStep, recorded } from './migration-run.ts';

export async function createFoldedIndex(db: Kysely<any>, index: FoldedIndex): Promise<void> {
  const { name, table, column, fold } = index;
  const told = { name, columns: [column], unique: true, fold };
  await asStep({ kind: 'createIndex', table, index: told }, name, () => create(db, index));
}

async function create(db: Kysely<any>, index: FoldedIndex): Promise<void> {
  if (!recorded()) await assertDistinct(db, index);
  await db.schema
    .createIndex(index.name)
    .ifNotExists()
    .unique()
    .on(index.table)
    .expression(folded(dialectOf(db), index.fold, index.column))
    .execute();
}

async function assertDistinct(
  db: Kysely<any>,
  { table, column, fold }: FoldedIndex,
): Promise<void> {
  const key = folded(dialectOf(db), fold, column);
  const id = sql.ref(table === 'auth_users' ? 'user_id' : 'id');
  const { rows } = await sql<{ row: string }>`
    select ${id} || ' (' || ${sql.ref(column)} || ')' as "row" from ${sql.table(table)}
    where ${key} in (select ${key} from ${sql.table(table)} group by ${key} having count(*) > 1)
    order by ${key}, ${id} limit 20`.execute(db);
  if (rows.length === 0) return;
  throw new AppError(
    409,
    'ROWS_IN_THE_WAY',
    `rows of ${table} have the same ${column} when ${IGNORED_PART[fold]} is left out of account: ${rows.map(({ row }) => row).join(', ')}. Nothing was changed. Change or remove all but one of each, and migrate again`,
  );
}

const IGNORED_PART: Readonly<Record<Fold, string>> = {
  letters: 'the case of letters',
  digits: 'the space between digits',
};
