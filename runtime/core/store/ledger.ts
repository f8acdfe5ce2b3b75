import { createHash } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import { AppError } from '../errors.ts';
import type { Migration } from './migration.ts';

/** The table that knows what was applied. */
export const LEDGER = 'twofold_migrations';

/** Names of migrations by what the ledger and the files say of them, oldest first. */
export interface LedgerState {
  readonly applied: readonly string[];
  readonly pending: readonly string[];
  /** Begun by hand and not written yet: there is nothing to apply. */
  readonly empty: readonly string[];
  /** Applied with another text. */
  readonly changed: readonly string[];
  /** Applied, and there is no file of that name. */
  readonly missing: readonly string[];
}

/** Name and hash of what is applied. */
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

/** Modules apply their own lists, so only names of the same owner (the text before the slash) are compared. */
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

/** Whether nothing but comments stands in `up`. Once noted as applied it could no longer be written. */
function isEmpty({ up, text }: Migration): boolean {
  const body = up.toString().replace(/\/\*[^]*?\*\/|\/\/[^\n]*/g, '');
  return text !== undefined && /\)\s*(=>)?\s*\{\s*\}$/.test(body);
}

/** @throws AppError `MIGRATION_CHANGED` or `MIGRATION_MISSING`, naming each file and what mends it. */
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

/** Line ends do not count: a checkout may change them. Consent to a loss does not either: it is given afterwards. */
export function hashOf({ text }: Pick<Migration, 'text'>): string {
  return text === undefined
    ? ''
    : createHash('sha256')
        .update(text.replaceAll('\r\n', '\n').replace(/^export const allowLoss = .*;\n\n?/m, ''))
        .digest('hex');
}
