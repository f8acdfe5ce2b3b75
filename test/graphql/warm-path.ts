import { Session } from 'node:inspector/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startServer } from './harness.ts';

/** Which of our files and functions one warm query runs, as V8 counts them. Printed as JSON: this program is run by a test. */

const SDL = `
type Author { id: ID! name: String! posts: [Post!]! }
type Post { id: ID! title: String! author: Author! }
type Query { posts: [Post!]! }
type Mutation { createAuthor(name: String!): Author! createPost(title: String!, authorId: ID!): Post! }
`;

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const server = await startServer(SDL, { inProcess: true });
await server.query('mutation { createAuthor(name: "Ada") { id } }');
await server.query('mutation { createPost(title: "Notes", authorId: 1) { id } }');
const ask = () =>
  server.call('POST', '/graphql', { body: { query: '{ posts { title author { name } } }' } });
for (let asked = 0; asked < 20; asked += 1) await ask();

const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
await session.post('Profiler.takePreciseCoverage');
await ask();
const { result } = await session.post('Profiler.takePreciseCoverage');
await session.post('Profiler.stopPreciseCoverage');

const ran = result
  .filter(({ url }) => url.startsWith('file://'))
  .map(({ url, functions }) => ({
    file: relative(ROOT, fileURLToPath(url)),
    functions: functions
      .filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0)
      .map(({ functionName }) => functionName),
  }))
  .filter(({ file, functions }) => /^(?:runtime|schema)\//.test(file) && functions.length > 0);
console.log(JSON.stringify(ran));
await server.close();
process.exit(0);
