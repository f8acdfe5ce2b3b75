import { createHash } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import type { Migration } from './migration.ts';
import { columnsOf } from '../tables/columns-of.ts';
import { parseUndo, type Undo } from '../tables/undo-statement.ts';

/** The table of applied migrations. */
export const LEDGER = 'twofold_migrations';

/** The tables of every server whose rows are about this database alone. */
export const PASSING = [LEDGER, 'twofold_locks', 'twofold_messages'];

/** A row with this name records that a server in production mode has served this database. */
export const PRODUCTION = 'server/production';

/** An applied migration. */
export interface AppliedMigration {
  readonly name: string;
  readonly hash: string;
  /** ISO 8601, UTC. */
  readonly appliedAt: string;
  /** The statements that undo it; null when it is one-way. */
  readonly undo: Undo | null;
  /** Whether the ledger records how to undo it. The first release did not. */
  readonly undoKnown: boolean;
  /** How many steps of an interrupted migration are done; null when the migration is complete. */
  readonly steps: number | null;
}

/** The history of a database, as its ledger table records it. */
export interface Ledger {
  /** In the order in which they were applied. */
  readonly applied: readonly AppliedMigration[];
  /** Whether a server in production mode has ever served this database. */
  readonly production: boolean;
}

/** The text before the slash: modules apply their own migrations. Empty for the project's. */
export const ownerOf = (name: string): string =>
  name.includes('/') ? name.slice(0, name.indexOf('/')) : '';

/** Columns that the first release did not have. */
const LATER_COLUMNS = { undo: 'text', steps: 'integer' } as const;

/** Reads the ledger and changes nothing; a database without one has an empty ledger. */
export async function readLedger(db: Kysely<any>): Promise<Ledger> {
  if ((await columnsOf(db, LEDGER)).size === 0) return { applied: [], production: false };
  const rows = await db
    .selectFrom(LEDGER)
    .selectAll()
    .orderBy('applied_at')
    .orderBy('name')
    .execute();
  return {
    applied: rows.filter(({ name }) => name !== PRODUCTION).map(asApplied),
    production: rows.some(({ name }) => name === PRODUCTION),
  };
}

function asApplied(row: Record<string, unknown>): AppliedMigration {
  return {
    name: String(row['name']),
    hash: String(row['hash']),
    appliedAt: String(row['applied_at']),
    undo: parseUndo(row['undo']),
    undoKnown: typeof row['undo'] === 'string',
    steps: typeof row['steps'] === 'number' ? row['steps'] : null,
  };
}

/** Makes the ledger, or adds missing columns to a ledger of an earlier release. */
export async function prepareLedger(db: Kysely<any>): Promise<void> {
  const columns = await columnsOf(db, LEDGER);
  if (columns.size === 0) return createLedger(db);
  for (const [name, type] of Object.entries(LATER_COLUMNS))
    if (!columns.has(name)) await db.schema.alterTable(LEDGER).addColumn(name, type).execute();
}

async function createLedger(db: Kysely<any>): Promise<void> {
  await db.schema
    .createTable(LEDGER)
    .ifNotExists()
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('hash', 'text', (column) => column.notNull())
    .addColumn('applied_at', 'text', (column) => column.notNull())
    .addColumn('undo', LATER_COLUMNS.undo)
    .addColumn('steps', LATER_COLUMNS.steps)
    .execute();
}

export async function noteApplied(
  db: Kysely<any>,
  migration: Pick<Migration, 'name' | 'text'>,
  undo: Undo | null,
): Promise<void> {
  await db
    .insertInto(LEDGER)
    .values({
      name: migration.name,
      hash: hashOf(migration),
      applied_at: sql`${new Date().toISOString()}`,
      undo: printUndo(undo),
    })
    .execute();
}

const printUndo = (undo: Undo | null) => (undo ? JSON.stringify(undo) : 'one-way');

export async function noteUndone(db: Kysely<any>, name: string): Promise<void> {
  await db.deleteFrom(LEDGER).where('name', '=', name).execute();
}

/** Takes all migrations out of the ledger; whether it served production stays. */
export async function forgetApplied(db: Kysely<any>): Promise<void> {
  await db.deleteFrom(LEDGER).where('name', '!=', PRODUCTION).execute();
}

/** Records how to undo a migration that an earlier release applied. */
export async function noteUndo(db: Kysely<any>, name: string, undo: Undo | null): Promise<void> {
  await db
    .updateTable(LEDGER)
    .set({ undo: printUndo(undo) })
    .where('name', '=', name)
    .execute();
}

/** Replaces an applied draft by the text that took its place. */
export async function noteRewritten(
  db: Kysely<any>,
  from: string,
  { migration, undo }: { readonly migration: Migration; readonly undo: Undo | null },
): Promise<void> {
  await db
    .updateTable(LEDGER)
    .set({
      name: migration.name,
      hash: hashOf(migration),
      undo: printUndo(undo),
    })
    .where('name', '=', from)
    .execute();
}

/** Renames an applied draft to the name under which it was saved. */
export async function noteRenamed(db: Kysely<any>, from: string, to: string): Promise<void> {
  await db.updateTable(LEDGER).set({ name: to }).where('name', '=', from).execute();
}

/** Records that a server in production mode serves this database. */
export async function noteProduction(db: Kysely<any>): Promise<void> {
  if ((await readLedger(db)).production) return;
  if ((await columnsOf(db, LEDGER)).size === 0) await createLedger(db);
  await db
    .insertInto(LEDGER)
    .values({ name: PRODUCTION, hash: '', applied_at: sql`${new Date().toISOString()}` })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** The first line of a draft. */
const DRAFT_LINE = /^\/\/ Draft [0-9a-f]{12}\b.*\n\n?/;

/** The first line of a migration that an upgrade wrote anew: the hash that databases know. */
const FORMER_LINE = /^\/\/ Applied as ([0-9a-f]{64}) while the rest is ([0-9a-f]{12})\b.*\n\n?/;

/**
 * The hash ignores line ends, which a checkout may change, consent, which is given later, and the
 * first line of a draft, which goes away when it is saved. A migration that an upgrade wrote anew
 * has the hash of its former text until it is edited.
 */
export function hashOf({ text }: Pick<Migration, 'text'>): string {
  if (text === undefined) return '';
  const counted = text
    .replaceAll('\r\n', '\n')
    .replace(DRAFT_LINE, '')
    .replace(/^export const allowLoss = .*;\n\n?/m, '');
  const [line = '', former = '', own = ''] = FORMER_LINE.exec(counted) ?? [];
  const hash = createHash('sha256').update(counted.slice(line.length)).digest('hex');
  return line !== '' && hash.startsWith(own) ? former : hash;
}

/**
 * Whether a file is the draft that the generator writes again: its first line has the hash of the
 * rest. A draft that was edited by hand counts as saved.
 */
export function isDraft({ name, text }: Pick<Migration, 'name' | 'text'>): boolean {
  if (text === undefined || !/^\d+_draft$/.test(name)) return false;
  const plain = text.replaceAll('\r\n', '\n');
  const [line = ''] = DRAFT_LINE.exec(plain) ?? [];
  const rest = plain.slice(line.length);
  return line.startsWith(
    `// Draft ${createHash('sha256').update(rest).digest('hex').slice(0, 12)}`,
  );
}
