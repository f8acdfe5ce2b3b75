/**
 * What README.md promises, and the tests that `npm test` runs for it. They need no service, so a fresh clone passes
 * them with npm alone; `npm run test:all` runs every other test too. A file stands here when it would notice that the
 * promise broke, and is among the quickest that would.
 */
export const promises: readonly { readonly says: string; readonly files: readonly string[] }[] = [
  {
    says: 'In a clone of this repository, run a server that answers a query',
    files: ['journey/journey', 'generator/init'],
  },
  {
    says: '`schema.graphql` describes the data. `manifest.yaml` describes how users sign in and what',
    files: [
      'schema/entities',
      'schema/relations',
      'schema/operations',
      'schema/manifest',
      'schema/findings',
    ],
  },
  {
    says: 'Twofold infers the table, the migration, the SQL, the resolver and its types',
    files: ['readme', 'examples', 'templates/types', 'generator/migrations/project'],
  },
  {
    says: 'GraphQL and REST over a real database',
    files: [
      'graphql/execute',
      'graphql/lists',
      'graphql/writes',
      'graphql/errors',
      'server/server',
      'graphql/limits',
      'rest/reads',
      'rest/writes',
      'rest/document',
      'store/store',
    ],
  },
  {
    says: 'A query is one SQL statement that returns JSON, whatever its depth',
    files: ['graphql/statements', 'graphql/answer-values'],
  },
  {
    says: 'A field with a function of yours starts a new one',
    files: ['graphql/resolvers', 'graphql/own-data', 'data/hooks'],
  },
  {
    says: 'sign users in, and say who may do what',
    files: [
      'auth/register',
      'auth/login',
      'auth/refresh',
      'auth/recovery',
      'auth/intruder',
      'rules/conditions',
      'rules/paths',
      'leak/strangers',
      'leak/rest',
    ],
  },
  {
    says: 'for each field which rule decided and which SQL runs',
    files: ['generator/explain-command'],
  },
  {
    says: 'Your files are never overwritten. A new version is merged with what',
    files: ['generator/regeneration', 'generator/merge', 'generator/rename'],
  },
  { says: '`npm run dev` does this on every save', files: ['generator/dev-server'] },
  { says: 'jobs, hosting of', files: ['jobs/worker', 'jobs/schedules'] },
  {
    says: 'containers and local language models',
    files: [
      'hosting/policy',
      'hosting/permissions',
      'hosting/dockerfile-lines',
      'hosting/compose-files',
      'models/response-stream',
      'models/schemas',
    ],
  },
  {
    says: 'which shows rows, users, logs, figures and the schema in the browser',
    files: ['console/console', 'console/admin-data', 'console/rights'],
  },
  {
    says: 'look up a key or a command',
    files: ['docs/llms', 'docs/promises', 'docs/coverage', 'generator/commands'],
  },
  { says: '| Folder | What | May import |', files: ['layers', 'sizes', 'public-api'] },
];

/** The files of `npm test`, from the root of the repository. */
export const promiseFiles: readonly string[] = promises.flatMap(({ files }) =>
  files.map((file) => `test/${file}.test.ts`),
);
