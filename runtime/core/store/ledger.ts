import { createHash } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import { AppError } from '../errors.ts';
import type { Migration } from './migration.ts';

/** The table of applied migrations. */
export const LEDGER = 'twofold_migrations';

/** Names of migrations by their state in the ledger and the folder, oldest first. */
export interface LedgerState {
  readonly applied: readonly string[];
  readonly pending: readonly string[];
  /** New migrations whose `up` is not written yet: there is nothing to apply. */
  readonly empty: readonly string[];
  /** Applied, but the file's text has changed since. */
  readonly changed: readonly string[];
  /** Applied, but the file is missing. */
  readonly missing: readonly string[];
}

/** Reads name and hash of the applied migrations. */
export async function readLedger(db: Kysely<any>): Promise<ReadonlyMap<string, string>> {
  await db.schema
    .createTable(LEDGER)
    .ifNotExists()
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('hash', 'text', (column) => column.notNull())
    .addColumn('applied_at', 'text', (column) => column.notNull())
    .execute();
  const rows = await db.selectFrom(LEDGER).select(['name', 'hash']).orderBy('name').execute();
  return new Map(rows.map(({ name, hash }) => [name, hash]));
}

/** The same without making the table: a database without one has applied nothing. */
export async function readLedgerIfThere(db: Kysely<any>): Promise<ReadonlyMap<string, string>> {
  const tables = await db.introspection.getTables();
  if (!tables.some(({ name }) => name === LEDGER)) return new Map();
  const rows = await db.selectFrom(LEDGER).select(['name', 'hash']).orderBy('name').execute();
  return new Map(rows.map(({ name, hash }) => [name, hash]));
}

export async function noteApplied(db: Kysely<any>, migration: Migration): Promise<void> {
  await db
    .insertInto(LEDGER)
    .values({
      name: migration.name,
      hash: hashOf(migration),
      applied_at: sql`${new Date().toISOString()}`,
    })
    .execute();
}

/**
 * Modules apply their own migrations, so only names of the same owner (the text before the slash)
 * are compared.
 */
export function compareLedger(
  ledger: ReadonlyMap<string, string>,
  migrations: readonly Migration[],
): LedgerState {
  const owner = (name: string) => (name.includes('/') ? name.slice(0, name.indexOf('/')) : '');
  const owners = new Set(migrations.map(({ name }) => owner(name)));
  const names = new Set(migrations.map(({ name }) => name));
  const known = migrations.filter(({ name }) => ledger.has(name));
  const waiting = migrations.filter(({ name }) => !ledger.has(name));
  const changed = known.filter((migration) => ledger.get(migration.name) !== hashOf(migration));
  return {
    applied: known.filter((each) => !changed.includes(each)).map(({ name }) => name),
    pending: waiting.filter((each) => !isEmpty(each)).map(({ name }) => name),
    empty: waiting.filter(isEmpty).map(({ name }) => name),
    changed: changed.map(({ name }) => name),
    missing: [...ledger.keys()].filter((name) => owners.has(owner(name)) && !names.has(name)),
  };
}

/**
 * Whether `up` contains only comments. Such a migration is not recorded as applied, because it
 * could then not be written any more.
 */
function isEmpty({ up, text }: Migration): boolean {
  const body = up.toString().replace(/\/\*[^]*?\*\/|\/\/[^\n]*/g, '');
  return text !== undefined && /\)\s*(=>)?\s*\{\s*\}$/.test(body);
}

/** @throws AppError `MIGRATION_CHANGED` or `MIGRATION_MISSING`, naming each file and the remedy. */
export function assertSound(state: LedgerState): LedgerState {
  const { changed, missing } = state;
  if (changed.length > 0)
    throw new AppError(
      500,
      'MIGRATION_CHANGED',
      `${listed(changed)} ${changed.length === 1 ? 'was' : 'were'} changed after ${changed.length === 1 ? 'it was' : 'they were'} applied; nothing was done.\n   fix  restore the old text (git log -p -- migrations shows it) and put the change into a new migration; or, where the rows may go, take the database back with the old text: npm run migrate -- down`,
      { extensions: { migrations: changed } },
    );
  if (missing.length > 0)
    throw new AppError(
      500,
      'MIGRATION_MISSING',
      `${listed(missing)} ${missing.length === 1 ? 'is' : 'are'} applied in the database, and there ${missing.length === 1 ? 'is no such file' : 'are no such files'} in migrations/; nothing was done.\n   fix  go back to the branch or commit that has ${missing.length === 1 ? 'it' : 'them'} (git log --all -- 'migrations/${missing.at(-1)}*' names it); to leave that branch, run "npm run migrate -- down" there first, or give each branch a DATABASE_URL of its own`,
      { extensions: { migrations: missing } },
    );
  return state;
}

function listed(names: readonly string[]): string {
  return `migration${names.length === 1 ? '' : 's'} ${names.join(', ')}`;
}

/** The hash ignores line ends, which a checkout may change, and consent, which is given later. */
export function hashOf({ text }: Pick<Migration, 'text'>): string {
  return text === undefined
    ? ''
    : createHash('sha256')
        .update(text.replaceAll('\r\n', '\n').replace(/^export const allowLoss = .*;\n\n?/m, ''))
        .digest('hex');
}
