import { type Project, readProject } from '@twofold/schema';
import { run, type Program } from '../../server/program.ts';
import { createRandom, randomSchema } from '../random-schema.ts';

/** Random types with lists, connections, filters and orders, and what they lack: writes, events, rules, user code that waits and fails. */
export const sdlOf = (seed: number): string => `${randomSchema(createRandom(seed)).replace(
  'type Query {',
  'type Query { notes(limit: Int, where: NoteFilter): [Note!]! diaries: [Diary!]! hits: [Hit!]! boom: String wait(milliseconds: Int!): String echo(text: String, list: [Int!], one: Choice): String!',
)}
  type Note { id: ID! text: String! mood: Mood at: DateTime }
  type Diary @auth(allow: [USER]) { id: ID! text: String! }
  union Hit = Note | Diary
  input NoteFilter { text: StringOps and: [NoteFilter!] not: NoteFilter }
  input Choice @oneOf { text: String number: Int choice: Choice }
  type Mutation { createNote(text: String!, mood: Mood, at: DateTime): Note! updateNote(id: ID!, text: String): Note deleteNote(id: ID!): Boolean! createDiary(text: String!): Diary! }
  type Subscription { noteChanged(id: ID): Note! diaryCreated: Diary! ticks(to: Int!): Int! }`;

export const MANIFEST =
  'name: fuzzed\napi: { access: public, limits: { time: 2s, batch: 5 } }\nauth: {}\n';

export function projectOf(seed: number): Project {
  const { project, diagnostics } = readProject({
    schema: [{ file: 'schema.graphql', text: sdlOf(seed) }],
    manifest: { file: 'manifest.yaml', text: MANIFEST },
  });
  if (!project) throw new TypeError(JSON.stringify(diagnostics));
  return project;
}

const PROGRAM = (seed: number) => `
import { auth } from '@twofold/auth';
import { createServer } from '@twofold/runtime';
import { readProject } from '@twofold/schema';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
const text = ${JSON.stringify(sdlOf(seed))};
const { project } = readProject({ schema: [{ file: 'schema.graphql', text }], manifest: { file: 'manifest.yaml', text: ${JSON.stringify(MANIFEST)} } });
const names = project.entities.map(({ name }) => name);
const resolvers = Object.fromEntries(names.slice(0, 4).map((name) => [name, { echo: (row) => name + ' ' + row.id }]));
resolvers.Query = {
  boom: () => { throw new Error('the password is hunter2'); },
  wait: (_, { milliseconds }, { signal }) => new Promise((resolve) => {
    const timer = setTimeout(resolve, Math.min(milliseconds, 60000), 'waited');
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve(null)), { once: true });
  }),
  echo: (_, args) => JSON.stringify(args),
};
resolvers.Subscription = { ticks: { subscribe: async function* (_, { to }) { for (let tick = 1; tick <= Math.min(to, 50); tick++) yield tick; }, resolve: (tick) => tick } };
const routes = (router) => router.get('/memory', (ctx) => {
  collect(); collect();
  const { rss, heapUsed, external } = process.memoryUsage();
  ctx.body = { rss, heapUsed, external, cpu: process.cpuUsage(), sockets: process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length, timers: process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length };
});
await createServer({ project, resolvers, routes, capabilities: [auth()] }).serve('127.0.0.1:0');
`;

const ENVIRONMENT = {
  LOG_LEVEL: 'info',
  JWT_SECRET: 'a secret of the fuzz that is long enough',
  RATE_LIMIT_ENABLED: 'false',
};

/** The server in a process of its own: what it does not survive ends it. */
export const serve = (seed: number, databaseUrl: string): Program =>
  run(PROGRAM(seed), { ...ENVIRONMENT, DATABASE_URL: databaseUrl });
