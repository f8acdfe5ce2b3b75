import type { CompiledQuery, Kysely } from 'kysely';
import {
  type Dialect,
  type Ledger,
  type Migration,
  noteApplied,
  ownerOf,
  prepareLedger,
  readLedger,
  type Store,
} from '@twofold/runtime/store';
import { compareLedger } from '../migrations/ledger-state.ts';
import { recordUndo } from '../migrations/record-undo.ts';
import { inScratch } from '../migrations/scratch.ts';
import { kyselyOver } from '../tables/recording.ts';
import { recordMigration } from './record.ts';
import { inlined } from './inlined.ts';

/**
 * All that is pending as SQL, with the rows of the ledger, for somebody else to run. The database is
 * only asked what it has: all migrations are run over empty tables, on SQLite in memory, on
 * PostgreSQL in a schema that no other connection ever sees.
 *
 * @returns an empty text when nothing is pending.
 */
export async function pendingSql(
  store: Store,
  lists: readonly (readonly Migration[])[],
): Promise<string> {
  const ledger = await readLedger(store.db);
  const states = lists.map((list) => compareLedger(ledger, list));
  const pending = new Set(states.flatMap((state) => [...state.pending, ...state.partial]));
  if (pending.size === 0) return '';
  const { dialect } = store;
  const written: string[] = [];
  const work = async (trx: Kysely<any>) => {
    const writing: Writing = { dialect, trx, written, hasLedger: hasLedger(ledger) };
    await writeLedger(writing);
    for (const migration of lists.flat())
      if (pending.has(migration.name)) await writeMigration(writing, migration);
      else if (states.some(({ applied }) => applied.includes(migration.name)))
        await migration.up(trx, { dialect });
  };
  await inScratch(store, work, { temporary: true });
  return [FRAMES[dialect].begin, ...written, FRAMES[dialect].end, ''].join('\n');
}

const FRAMES = {
  sqlite: {
    begin: 'pragma foreign_keys = off;\nbegin;',
    end: 'commit;\npragma foreign_key_check;',
  },
  postgres: { begin: 'begin;', end: 'commit;' },
} as const;

const hasLedger = ({ applied, production }: Ledger) => applied.length > 0 || production;

interface Writing {
  readonly dialect: Dialect;
  readonly trx: Kysely<any>;
  readonly written: string[];
  readonly hasLedger: boolean;
}

/** Writes the statements of the ledger, for a database without one. */
async function writeLedger(writing: Writing): Promise<void> {
  if (writing.hasLedger) return prepareLedger(writing.trx);
  writing.written.push('-- the ledger of migrations');
  await prepareLedger(noting(writing));
}

async function writeMigration(writing: Writing, migration: Migration): Promise<void> {
  const { dialect, trx, written } = writing;
  written.push(`-- ${migration.name}`);
  const steps = await recordMigration(migration, dialect);
  if (steps.some((step) => step.kind === 'unknown' && step.statement.startsWith('reads rows')))
    written.push(
      `-- it reads rows and goes on from them, which SQL alone cannot do: run it with "npm run migrate"`,
    );
  await migration.up(noting(writing), { dialect });
  const undo =
    ownerOf(migration.name) === '' ? await recordUndo({ dialect, trx }, migration) : null;
  await noteApplied(noting(writing), migration, undo);
}

/** Runs each statement, and records those that change something. */
function noting({ dialect, trx, written }: Writing): Kysely<any> {
  return kyselyOver(dialect, async (query) => {
    if (!isRead(query) && !isOwn(query))
      written.push(`${inlined(query.sql, query.parameters)};${needsServer(query)}`);
    return trx.executeQuery(query);
  });
}

const isRead = ({ sql: text }: CompiledQuery) =>
  /^\s*(select|values|pragma|explain|show)\b/i.test(text);

/** Whether a statement only compares two conditions. It leaves no change. */
const isOwn = ({ sql: text }: CompiledQuery) => text.includes('"twofold_same"');

const needsServer = ({ sql: text }: CompiledQuery) =>
  text.includes('twofold_convert(')
    ? ' -- twofold_convert is a function of the server: only "npm run migrate" can run this one'
    : '';
