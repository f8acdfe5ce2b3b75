/**
 * `npm run bench:graphql`: every server, every workload, the goals. Some nine minutes; what it prints stands in `graphql.md`.
 *
 * `-- --only posts,byId` some workloads · `--servers twofold,hand` some servers · `--rounds 3` · `--slice 100` (ms of CPU) ·
 * `--database sqlite|postgres`; with any of them, what stands beside the tables is left out. `--readme` writes the short table
 * at the end into the README.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { asides } from './more.ts';
import { startContender, type Running } from './contender.ts';
import { type Database, postgresDatabase, sqliteDatabase } from './database.ts';
import { compareAnswers, measure } from './measure.ts';
import { requirePeers } from './peers.ts';
import {
  type Aside,
  linesOf,
  machineOf,
  printAsides,
  printGoals,
  printMachine,
  printTable,
  printVerdict,
} from './report.ts';
import { contenders } from './servers/index.ts';
import { type Line, renderSummary, withSummary } from './summary.ts';
import { workloads } from './workloads.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    servers: { type: 'string' },
    rounds: { type: 'string', default: '21' },
    slice: { type: 'string', default: '150' },
    database: { type: 'string' },
    readme: { type: 'boolean', default: false },
  },
});
requirePeers();
const isWhole = !values.only && !values.servers && !values.database;
if (values.readme && !(isWhole && process.env['TEST_POSTGRES_URL'])) {
  process.stderr.write(
    '--readme needs a whole run: no --only, --servers or --database, and TEST_POSTGRES_URL\n',
  );
  process.exit(1);
}

const asked = (list: string | undefined) => (name: string) =>
  list === undefined || list.split(',').includes(name);
const measuring = { rounds: Number(values.rounds), slice: Number(values.slice) * 1000 };
const postgresUrl = process.env['TEST_POSTGRES_URL'];

/** What the peers do on PostgreSQL differs in the driver alone: the fastest two stand for them. */
const ON_POSTGRES = ['twofold', 'hand', 'mercurius', 'koa-jit'];

const some = contenders.filter(({ name }) => asked(values.servers)(name));
const missed: string[] = [];
const lines: Line[] = [];
printMachine(measuring.rounds);
if (asked(values.database)('sqlite'))
  missed.push(...(await compare('SQLite', some, sqliteDatabase)));
if (asked(values.database)('postgres')) {
  if (postgresUrl)
    missed.push(
      ...(await compare(
        'PostgreSQL',
        some.filter(({ name }) => ON_POSTGRES.includes(name)),
        () => postgresDatabase(postgresUrl),
      )),
    );
  else missed.push('PostgreSQL (TEST_POSTGRES_URL is not set)');
}
if (isWhole) missed.push(...printAsides(await runAsides()));
if (lines.length > 0) showSummary(renderSummary(lines, machineOf()));
printVerdict(missed);

/** What the README shows, ready to be pasted, or there already. */
function showSummary(summary: string): void {
  process.stdout.write(`\n${summary}\n`);
  if (!values.readme) return;
  const readme = new URL('../../README.md', import.meta.url);
  writeFileSync(readme, withSummary(readFileSync(readme, 'utf8'), summary));
}

async function runAsides(): Promise<Aside[]> {
  const seen: Aside[] = [];
  for (const aside of Object.values(asides)) seen.push(...(await aside()));
  return seen;
}

async function compare(
  title: string,
  compared: typeof contenders,
  open: () => Promise<Database>,
): Promise<string[]> {
  const chosen = workloads.filter(
    ({ name }) => asked(values.only)(name) && (title === 'SQLite' || name !== 'static'),
  );
  const databases: Database[] = [];
  const servers: Running[] = [];
  try {
    for (const contender of compared) {
      const database = await open();
      databases.push(database);
      servers.push(await startContender(contender, database.url));
    }
    await compareAnswers(servers, chosen);
    const results = await measure(servers, chosen, measuring);
    printTable(title, servers, chosen, results);
    lines.push(...linesOf(title, chosen, results));
    return printGoals(title, results);
  } finally {
    await Promise.all(servers.map((server) => server.close()));
    for (const database of databases) await database.drop();
  }
}
