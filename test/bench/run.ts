/**
 * `npm run bench:graphql`: every server in both shapes, every workload, the goals; what it prints stands in `graphql.md`.
 *
 * `-- --only posts,byId` some workloads · `--servers twofold,hand` some servers · `--rounds 3` · `--slice 100` and `--warm 100` (ms of CPU) ·
 * `--database sqlite|postgres` · `--shape asRun|bare` · `--tables` leaves out what stands beside the tables, as each choice of
 * workloads, servers, database or shape does. `--readme` writes the short table at the end into the README.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { asides } from './more.ts';
import { startContender, type Running } from './contender.ts';
import { type Database, postgresDatabase, sqliteDatabase } from './rows.ts';
import { compareAnswers, measure, WARM_UP } from './measure.ts';
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
import { checkShape } from './shape-check.ts';
import { type Shape, SHAPE_TITLES, SHAPES } from './shape.ts';
import { contenders } from './servers/index.ts';
import { type Line, renderSummary, withSummary } from './summary.ts';
import { type Workload, workloads } from './workloads.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    servers: { type: 'string' },
    rounds: { type: 'string', default: '15' },
    slice: { type: 'string', default: '150' },
    warm: { type: 'string', default: String(WARM_UP / 1000) },
    database: { type: 'string' },
    shape: { type: 'string' },
    tables: { type: 'boolean', default: false },
    readme: { type: 'boolean', default: false },
  },
});
requirePeers();
const isWhole = !values.only && !values.servers && !values.database && !values.shape;
if (values.readme && !(isWhole && process.env['TEST_POSTGRES_URL'])) {
  process.stderr.write(
    '--readme needs a whole run: no --only, --servers, --database or --shape, and TEST_POSTGRES_URL\n',
  );
  process.exit(1);
}

const asked = (list: string | undefined) => (name: string) =>
  list === undefined || list.split(',').includes(name);
const measuring = {
  rounds: Number(values.rounds),
  slice: Number(values.slice) * 1000,
  warming: Number(values.warm) * 1000,
};
const postgresUrl = process.env['TEST_POSTGRES_URL'];

/** What the peers do on PostgreSQL differs in the driver alone: the fastest two stand for them. */
const ON_POSTGRES = ['twofold', 'hand', 'mercurius', 'koa-jit'];

const shapes = SHAPES.filter(asked(values.shape));
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
        (shape) => postgresDatabase(postgresUrl, shape),
      )),
    );
  else missed.push('PostgreSQL (TEST_POSTGRES_URL is not set)');
}
if (isWhole && !values.tables) missed.push(...printAsides(await runAsides()));
if (lines.length > 0) showSummary(renderSummary(lines, shapes, machineOf()));
printVerdict(missed);

/** What the README shows, ready to be pasted, or there already. */
function showSummary(summary: string): void {
  process.stdout.write(`\n${summary}\n`);
  if (!values.readme) return;
  const readme = new URL('../../README.md', import.meta.url);
  writeFileSync(readme, withSummary(readFileSync(readme, 'utf8'), summary));
  // The page of the documentation is made from it.
  const run = { machine: machineOf(), shapes, lines };
  writeFileSync(new URL('graphql.json', import.meta.url), `${JSON.stringify(run, null, 2)}\n`);
}

async function runAsides(): Promise<Aside[]> {
  const seen: Aside[] = [];
  for (const aside of Object.values(asides)) seen.push(...(await aside()));
  return seen;
}

async function compare(
  title: string,
  compared: typeof contenders,
  open: (shape: Shape) => Promise<Database>,
): Promise<string[]> {
  const chosen = workloads.filter(
    ({ name }) => asked(values.only)(name) && (title === 'SQLite' || name !== 'static'),
  );
  const databases: Database[] = [];
  const servers: Running[] = [];
  try {
    for (const contender of compared) {
      for (const shape of shapes.filter((one) => one === 'asRun' || !contender.tokenOnly)) {
        const database = await open(shape);
        databases.push(database);
        const server = await startContender(contender, database);
        servers.push(server);
        if (database.credentials)
          await checkShape(server, chosen[0] as Workload, contender, database.credentials);
      }
    }
    await compareAnswers(servers, chosen);
    const measured = await measure(servers, chosen, measuring);
    for (const shape of shapes)
      printTable(
        `${title}, ${SHAPE_TITLES[shape]}`,
        servers.filter((server) => server.shape === shape),
        chosen,
        measured[shape],
      );
    lines.push(...linesOf(title, chosen, measured, shapes));
    return shapes.includes('bare') ? printGoals(title, measured.bare) : [];
  } finally {
    await Promise.all(servers.map((server) => server.close()));
    for (const database of databases) await database.drop();
  }
}
