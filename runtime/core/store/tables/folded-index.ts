import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Fold } from '@twofold/schema';
import { AppError } from '../../errors.ts';
import { dialectOf } from './column-types.ts';
import { asStep, recorded } from './migration-run.ts';
import { isRecorded } from '../plan/recording.ts';
import type { Dialect } from '../store.ts';

export interface FoldedIndex {
  readonly name: string;
  readonly table: string;
  readonly column: string;
  readonly fold: Fold;
}

/**
 * The SQL of a column in the form that is compared. Only ASCII letters are folded, so that the
 * locale of the database does not matter.
 */
export function folded(dialect: Dialect, fold: Fold, column: string): RawBuilder<string> {
  const text = sql.ref(column);
  if (fold === 'digits') {
    const bare = [' ', '(', ')', '-'].reduce<RawBuilder<unknown>>(
      (value, sign) => sql`replace(${value}, ${sql.lit(sign)}, '')`,
      text,
    );
    return sql`nullif(${bare}, '')`;
  }
  return dialect === 'postgres'
    ? sql`nullif(lower(${text} collate "C"), '')`
    : sql`nullif(lower(${text}), '')`;
}

/**
 * Makes a unique index over the folded values of a column, so that one address cannot be stored
 * twice with different letter case.
 *
 * @example await createFoldedIndex(db, { name: 'users_email_identity_key', table: 'users', column: 'email', fold: 'letters' });
 * @throws AppError `ROWS_IN_THE_WAY` with the keys of equal rows; nothing was changed.
 */
export async function createFoldedIndex(db: Kysely<any>, index: FoldedIndex): Promise<void> {
  const { name, table, column, fold } = index;
  const told = { name, columns: [column], unique: true, fold };
  if (isRecorded({ kind: 'createIndex', table, index: told })) return;
  await asStep(name, () => create(db, index));
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
