import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Kysely } from 'kysely';
import { describe, expect, test } from 'vitest';
import { migrate, migrationStatus } from '../../../runtime/database/migrations/migrate.ts';
import { planMigrations } from '../../../runtime/database/plan/plan-migrations.ts';
import type { Table, TableColumn } from '../../../schema/index.ts';
import { databases, type TestDatabase } from '../../store/databases.ts';
import { createRandom, type Random } from '../random.ts';
import {
  anyChange,
  migrationBetween,
  type NamedMigration,
  rowsOf,
  SETTINGS,
} from './random-migrations.ts';
import { settled, START, type Walk } from './random-tables.ts';
import { readStructure } from './structure.ts';

/** MIGRATION_CHANGES=300 MIGRATION_KILLS=100 for the long run; SEED for another one. */
const CHANGES = Number(process.env['MIGRATION_CHANGES'] ?? 8);
const KILLS = Number(process.env['MIGRATION_KILLS'] ?? 3);
const SEED = Number(process.env['SEED'] ?? 1);

const script = fileURLToPath(new URL('migrate-and-die.ts', import.meta.url));

for (const { name, missing, create } of databases) {
  describe.skipIf(missing !== null)(
    `random changes of tables with rows on ${name}${missing ? ` (${missing})` : ''}`,
    () => {
      test(
        `seed ${SEED}: the plan tells what runs, what is refused changes nothing, and a run that is killed is finished by the next`,
        { timeout: 3_600_000 },
        async () => {
          const [database, twin] = [await create(), await create()];
          const random = createRandom(SEED);
          const state: Run = { database, twin, random, done: [], walk: START, kills: KILLS };
          const outcomes = { applied: 0, refused: 0, killed: 0 };
          try {
            for (let change = 0; change < CHANGES; change++)
              outcomes[await takeChange(state, CHANGES - change)] += 1;
            console.log(`${name}, seed ${SEED}: ${JSON.stringify(outcomes)}`);
          } finally {
            await Promise.all([database.drop(), twin.drop()]);
          }
        },
      );
    },
  );
}

interface Run {
  readonly database: TestDatabase;
  /** Gets the same migrations and rows, and is never killed. */
  readonly twin: TestDatabase;
  readonly random: Random;
  readonly done: NamedMigration[];
  walk: Walk;
  kills: number;
}

async function takeChange(run: Run, left: number): Promise<'applied' | 'refused' | 'killed'> {
  const { database, twin, random, done, walk } = run;
  const { store } = database;
  const next = anyChange(walk, random);
  const made = migrationBetween(walk, next, done.length + 1);
  if (!made) {
    run.walk = settled(next);
    return 'applied';
  }
  const before = [await readStructure(store), await rowsOf(store.db, walk.tables)] as const;
  const { migration, refused } = await planned(run, made);
  const list = [...done, migration];
  const kills = run.kills > 0 && random.whole(left) < run.kills;
  if (kills) run.kills -= 1;
  const died =
    kills && (await killed(database, list, 1 + random.whole(store.dialect === 'sqlite' ? 25 : 60)));
  const outcome = await migrate(store, list, { settings: SETTINGS }).then(
    () => 'applied' as const,
    (error: { code?: string }) => error.code,
  );
  if (refused) {
    expect(['ROWS_IN_THE_WAY', 'MIGRATION_NEEDS_CONSENT']).toContain(outcome);
    expect([await readStructure(store), await rowsOf(store.db, walk.tables)]).toEqual(before);
    return 'refused';
  }
  expect([made.text, outcome]).toEqual([made.text, 'applied']);
  await migrate(twin.store, list, { settings: { ...SETTINGS, onlineFrom: 1_000_000 } });
  done.push(migration);
  run.walk = settled(next);
  expect(await readStructure(store)).toEqual(await readStructure(twin.store));
  const rows = await rowsOf(store.db, next.tables);
  expect(rows).toEqual(await rowsOf(twin.store.db, next.tables));
  expectKept(before[1], rows, { walk, next });
  expect((await migrationStatus(store, list)).partial).toEqual([]);
  await insertRows([store.db, twin.store.db], run.walk.tables, random);
  return died ? 'killed' : 'applied';
}

/** The migration, sometimes with the consent that its plan asks for, and whether it is refused. */
async function planned({ database, done, random }: Run, made: NamedMigration) {
  const plan = await planMigrations(database.store, [[...done, made]], SETTINGS);
  const steps = plan.flatMap((each) => each.steps);
  expect(steps.map(({ verdict }) => verdict)).not.toContain('unknown');
  const lossy = steps.filter(({ verdict }) => verdict === 'lossy').map(({ object }) => object);
  const impossible = steps.some(({ verdict }) => verdict === 'impossible');
  const agreed = lossy.length > 0 && random.chance(0.5);
  const migration = { ...made, allowLoss: agreed ? lossy : [] };
  return { migration, refused: impossible || (lossy.length > 0 && !agreed) };
}

/** Runs the migrations in a process that kills itself; whether it came to that. */
async function killed(
  { url }: TestDatabase,
  list: readonly NamedMigration[],
  statements: number,
): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'twofold-killed-'));
  const file = join(folder, 'migrations.json');
  writeFileSync(file, JSON.stringify(list));
  const child = spawn(process.execPath, [script, url, file, String(statements)]);
  const [, signal] = (await once(child, 'exit')) as [number | null, string | null];
  rmSync(folder, { recursive: true });
  return signal === 'SIGKILL';
}

type Rows = Readonly<Record<string, unknown>>;

/** Every value of a column that kept its type is there, but for nulls that a default has filled. */
function expectKept(before: Rows, after: Rows, { walk, next }: { walk: Walk; next: Walk }): void {
  for (const table of next.tables) {
    const old = walk.tables.find(({ name }) => name === (table.renamedFrom ?? table.name));
    if (!old) continue;
    for (const column of table.columns) {
      const was = old.columns.find(({ name }) => name === (column.renamedFrom ?? column.name));
      if (!was || was.type !== column.type) continue;
      const values = (rows: unknown, of: string) =>
        (rows as Record<string, unknown>[]).map((row) => row[of] ?? filled(column));
      expect(values(after[table.name], column.name)).toEqual(values(before[old.name], was.name));
    }
  }
}

function filled({ required, default: value }: TableColumn): unknown {
  return required && value?.kind === 'value' ? value.value : null;
}

/** The same rows for both databases; what one of them refuses, both refuse. */
async function insertRows(
  databases: readonly Kysely<any>[],
  tables: readonly Table[],
  random: Random,
): Promise<void> {
  for (const table of tables)
    for (let row = random.whole(4); row > 0; row--) {
      const values: Record<string, unknown> = {};
      for (const column of table.columns)
        if (column.type !== 'id' || column.references)
          values[column.name] = valueOf(column, random);
      const done = await Promise.allSettled(
        databases.map((db) => db.insertInto(table.name).values(values).execute()),
      );
      expect(new Set(done.map(({ status }) => status)).size).toBe(1);
    }
}

const TEXTS = ['7', '7.5', 'a', "it's", '2026-01-02', 'true', '', '0.10'];

function valueOf({ type, values, references, required }: TableColumn, random: Random): unknown {
  if (references || (!required && random.chance(0.3))) return null;
  if (values) return random.pick(values);
  const whole = random.whole(40);
  switch (type) {
    case 'integer':
    case 'bigint':
      return whole;
    case 'real':
      return random.chance(0.5) ? whole : whole + 0.5;
    case 'decimal':
      return random.pick([`${whole}`, `${whole}.5`]);
    case 'boolean':
      return random.chance(0.5) ? 1 : 0;
    case 'timestamp':
      return new Date(1_700_000_000_000 + whole * 43_200_000).toISOString();
    case 'date':
      return `2026-01-${String(1 + random.whole(28)).padStart(2, '0')}`;
    case 'json':
      return '{"a":1}';
    case 'uuid':
      return `0189abcd-0000-7000-8000-0000000000${String(10 + whole)}`;
    default:
      return random.pick(TEXTS);
  }
}
