/**
 * `npm run bench:graphql`: every server, every workload, one table.
 *
 * `-- --only posts,byId` some workloads · `--servers twofold,hand` some servers · `--rounds 3` · `--database sqlite|postgres`
 */
import { parseArgs } from 'node:util';
import { startContender, type Running } from './contender.ts';
import { type Database, postgresDatabase, sqliteDatabase } from './database.ts';
import { compareAnswers, measure } from './measure.ts';
import { printGoals, printTable } from './report.ts';
import { contenders } from './servers/index.ts';
import { workloads } from './workloads.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    servers: { type: 'string' },
    rounds: { type: 'string', default: '7' },
    slice: { type: 'string', default: '300' },
    database: { type: 'string' },
  },
});

const asked = (list: string | undefined) => (name: string) => list === undefined || list.split(',').includes(name);
const measuring = { rounds: Number(values.rounds), slice: Number(values.slice) * 1000 };
const postgresUrl = process.env['TEST_POSTGRES_URL'];

/** What the peers do on PostgreSQL differs in the driver alone: the fastest two stand for them. */
const ON_POSTGRES = ['twofold', 'hand', 'mercurius', 'koa-jit'];

if (asked(values.database)('sqlite')) await compare('SQLite', contenders.filter(({ name }) => asked(values.servers)(name)), sqliteDatabase);
if (asked(values.database)('postgres')) {
  if (postgresUrl) await compare('PostgreSQL', contenders.filter(({ name }) => asked(values.servers)(name) && ON_POSTGRES.includes(name)), () => postgresDatabase(postgresUrl));
  else process.stdout.write('PostgreSQL was left out: set TEST_POSTGRES_URL\n');
}

async function compare(title: string, some: typeof contenders, open: () => Promise<Database>): Promise<void> {
  const chosen = workloads.filter(({ name }) => asked(values.only)(name) && (title === 'SQLite' || name !== 'static'));
  const databases: Database[] = [];
  const servers: Running[] = [];
  try {
    for (const contender of some) {
      const database = await open();
      databases.push(database);
      servers.push(await startContender(contender, database.url));
    }
    await compareAnswers(servers, chosen);
    const results = await measure(servers, chosen, measuring);
    printTable(title, servers, chosen, results);
    printGoals(title, results);
  } finally {
    await Promise.all(servers.map((server) => server.close()));
    for (const database of databases) await database.drop();
  }
}
