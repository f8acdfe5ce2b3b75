import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoutes, readProject, type Project } from '@twofold/schema';
import {
  buildSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isObjectType,
  type GraphQLInputType,
  type GraphQLOutputType,
  type GraphQLSchema,
} from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { capabilitiesFor } from '../capabilities.ts';
import { createServer, type Running } from '../../runtime/core/index.ts';
import { openStore } from '../../runtime/core/store/open-store.ts';
import type { Store } from '../../runtime/core/store/store.ts';
import type { Resolvers } from '../../runtime/core/plugin.ts';
import { resolvers as ofCompany } from '../../examples/company/src/resolvers/Mutation.ts';
import { starters } from '../../templates/starter/index.ts';
import { caller, GOOD } from '../auth/server.ts';
import { createDatabase, postgresUrl } from '../engines/available.ts';

const KEY = 'k'.repeat(43);
const ENV = {
  JWT_SECRET: 's'.repeat(43),
  API_KEY: KEY,
  HOST_PASSWORD: 'correct horse battery',
  LOG_LEVEL: 'silent',
  RATE_LIMIT_ENABLED: 'false',
};

interface Template {
  readonly schema: string;
  readonly manifest: string;
  readonly resolvers?: Resolvers;
  /** What Ann makes is made by a key: the template lets no user make it. */
  readonly byKey?: boolean;
}

/** Every template of `init` with accounts: where it has none of its own, with what the findings ask for. */
const TEMPLATES: Readonly<Record<keyof typeof starters, Template>> = {
  starter: {
    schema: starters.starter.schema
      .replace(/ {2}createUser.*\n/, '')
      .replace(/(input UpdateUserInput \{[^}]*?) {2}email: String\n/, '$1'),
    manifest: starters.starter.manifest('x').replace('# auth: {}', 'auth: {}'),
  },
  blog: {
    schema: starters.blog.schema
      .replace(/ {2}createAuthor.*\n/, '')
      .replace('  authorId: ID!\n', '  authorId: ID\n')
      .replace(/^type (Author|Comment|Tag) \{/gm, 'type $1 @auth(allow: [PUBLIC], on: [READ]) {')
      .replace(
        'type Post {',
        'type Post @auth(allow: [PUBLIC], on: [READ]) @auth(allow: [OWNER], owner: "author", on: [CREATE, UPDATE, DELETE]) {',
      ),
    manifest: `${starters.blog.manifest('x')}auth: { user: Author }\n`,
  },
  company: {
    schema: starters.company.schema,
    manifest: starters.company.manifest('x').replace(/ {2}oauth:[^]*/, ''),
    resolvers: { Mutation: ofCompany } as unknown as Resolvers,
  },
  hosting: {
    schema: starters.hosting.schema.replace(
      /^type (Team|HostedApp) \{/gm,
      'type $1 @auth(allow: [API_KEY]) {',
    ),
    manifest: `${starters.hosting.manifest('x').replace(/hosting:[^]*/, '')}auth: {}\n`,
    byKey: true,
  },
};

const databases = ['SQLite', ...(postgresUrl ? ['PostgreSQL'] : [])] as const;
const all = databases.flatMap((database) =>
  Object.entries(TEMPLATES).map(([name, template]) => ({ database, name, ...template })),
);

describe.each(all)('strangers in --template $name on $database', (template) => {
  const { project: written, schema } = read(template);
  // Each operation here asks for everything below it.
  const limits = { ...written.api.limits, cost: Number.MAX_SAFE_INTEGER };
  const project: Project = { ...written, api: { ...written.api, limits } };
  const people = project.auth!.user.entity!;
  let running: Running;
  let store: Store;
  let ann: string;
  let bob: string;
  const ends: (() => unknown)[] = [];

  beforeAll(async () => {
    const url = await databaseUrl(template.database, ends);
    running = await createServer({
      project,
      resolvers: template.resolvers ?? {},
      capabilities: capabilitiesFor(project),
    }).start('127.0.0.1:0', { env: { ...ENV, DATABASE_URL: url }, logTo: { write: () => {} } });
    store = openStore(url, process.cwd());
    ends.push(
      () => running.close(),
      () => store.close(),
    );
    // The first one may be somebody special.
    await register('eve');
    [ann, bob] = [await register('ann'), await register('bob')];
    for (const operation of made()) {
      const document = `mutation { ${call(schema, 'mutation', operation.name, { id: '1', text: `made by ann as ${operation.name}` })} }`;
      const { errors } = await ask(document, template.byKey ? { 'X-API-Key': KEY } : bearer(ann));
      expect([operation.name, errors]).toEqual([operation.name, undefined]);
    }
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });

  const send = (...words: Parameters<ReturnType<typeof caller>>) => caller(running.url)(...words);
  const register = async (name: string) => {
    const body = { name: `name of ${name}`, email: `${name}@secret.test`, password: GOOD };
    return (await send('POST', '/api/auth/register', body)).body.accessToken as string;
  };
  const ask = async (query: string, headers: Record<string, string> = {}) =>
    (await send('POST', '/graphql', { query }, headers)).body;
  /** What Ann makes, each after what it refers to. */
  const made = () =>
    project.operations.filter(({ action }) => action.kind === 'create' && action.entity !== people);
  const isPublic = (entity: string) =>
    project.entities
      .find(({ name }) => name === entity)!
      .rules.some(({ allow, on }) => allow.includes('PUBLIC') && on.includes('READ'));
  const secrets = () => [
    'ann@secret.test',
    ...made().flatMap(({ name, action }) =>
      'entity' in action && !isPublic(action.entity) ? [`made by ann as ${name}`] : [],
    ),
  ];
  const rows = async () =>
    Object.fromEntries(
      await Promise.all(
        project.entities.map(async ({ table }) => [
          table,
          await store.db.selectFrom(table).selectAll().orderBy('id').execute(),
        ]),
      ),
    ) as Record<string, Record<string, unknown>[]>;
  /** Nothing that was there has changed or gone. */
  const unchanged = async (
    before: Awaited<ReturnType<typeof rows>>,
    own: (row: any) => boolean,
  ) => {
    const after = await rows();
    for (const [table, known] of Object.entries(before)) {
      const kept = known.filter((row) => !own(row));
      const ids = new Set(kept.map(({ id }) => id));
      expect([table, after[table]!.filter(({ id }) => ids.has(id))]).toEqual([table, kept]);
    }
  };
  const isBob = (row: any) => row.email === 'bob@secret.test';

  it('read nothing of each other through any query, and nothing of anybody without signing in', async () => {
    const queries = project.operations.filter(({ root }) => root === 'query');
    expect(queries.length).toBeGreaterThan(0);
    for (const headers of [bearer(bob), {}])
      for (const { name } of queries)
        for (const id of ['1', '2', '3'])
          for (const text of ['ann@secret.test', 'made by ann']) {
            const document = `{ ${call(schema, 'query', name, { id, text })} }`;
            const answer = JSON.stringify(await ask(document, headers));
            for (const secret of secrets())
              expect([document, answer]).toEqual([document, expect.not.stringContaining(secret)]);
          }
  });

  it('change nothing of each other through any mutation', async () => {
    const mutations = project.operations.filter(({ root }) => root === 'mutation');
    const before = await rows();
    for (const headers of [{}, bearer(bob)])
      for (const { name } of mutations)
        for (const id of ['1', '2', '3']) {
          const document = `mutation { ${call(schema, 'mutation', name, { id, text: `by bob ${id}` })} }`;
          const answer = JSON.stringify(await ask(document, headers));
          for (const secret of secrets())
            expect([document, answer]).toEqual([document, expect.not.stringContaining(secret)]);
        }
    await unchanged(before, isBob);
  });

  it('read and change nothing of each other through any REST route', async () => {
    const routes = projectRoutes(project).filter(
      ({ path }) => !/^\/api\/(?:auth|oauth|apps|system|health|openapi)/.test(path),
    );
    expect(routes.length).toBeGreaterThan(0);
    const before = await rows();
    for (const headers of [{}, bearer(bob)])
      for (const { method, path } of routes)
        for (const id of ['1', '2', '3']) {
          const at = path.replace(/[:{]\w+\}?/, id);
          const body = ['POST', 'PATCH', 'PUT'].includes(method)
            ? { name: 'by bob', title: 'by bob', text: 'by bob', companyId: id }
            : undefined;
          const include = method === 'GET' ? '?include=company,owner,employees' : '';
          for (const query of new Set(['', include])) {
            const { text } = await send(method, at + query, body, headers);
            for (const secret of secrets())
              expect([method, at, text]).toEqual([method, at, expect.not.stringContaining(secret)]);
          }
        }
    await unchanged(before, isBob);
  });
});

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

function read({ schema, manifest }: Template): { project: Project; schema: GraphQLSchema } {
  const { project, diagnostics } = readProject({
    schema: [{ file: 'schema.graphql', text: schema }],
    manifest: { file: 'manifest.yaml', text: manifest },
  });
  // A warning would be one of AUTH_USER_OPEN and AUTH_TYPE_OPEN.
  expect(diagnostics.filter(({ severity }) => severity !== 'hint')).toEqual([]);
  return { project: project!, schema: buildSchema(project!.sdl) };
}

async function databaseUrl(database: string, ends: (() => unknown)[]): Promise<string> {
  if (database === 'PostgreSQL') {
    const made = await createDatabase();
    ends.push(() => made.drop());
    return made.url;
  }
  const folder = mkdtempSync(join(tmpdir(), 'twofold-strangers-'));
  ends.push(() => rmSync(folder, { recursive: true, force: true }));
  return `file:${join(folder, 'app.db')}`;
}

interface Values {
  readonly id: string;
  readonly text: string;
}

/** A root field with every argument that it takes, and everything below it. */
function call(schema: GraphQLSchema, root: string, name: string, values: Values): string {
  const field = schema.getRootType(root as never)!.getFields()[name]!;
  const args = field.args.map((arg) => `${arg.name}: ${literal(arg.type, values, arg.name)}`);
  return `${name}${args.length > 0 ? `(${args.join(', ')})` : ''}${selection(field.type)}`;
}

function literal(type: GraphQLInputType, values: Values, name: string): string {
  const nullable = getNullableType(type);
  const named = getNamedType(type);
  if (isListType(nullable))
    return named.name === 'ID' ? '[]' : `[${literal(nullable.ofType, values, name)}]`;
  if (isInputObjectType(named)) {
    const fields = Object.values(named.getFields())
      // Who owns a row is left out: then it is who makes it.
      .filter((field) => !/^(?:author|owner)Id$/.test(field.name))
      .map((field) => `${field.name}: ${literal(field.type, values, field.name)}`);
    return `{ ${fields.join(', ')} }`;
  }
  if (isEnumType(named)) return named.getValues()[0]!.name;
  if (named.name === 'Boolean') return 'true';
  if (named.name === 'ID') return JSON.stringify(values.id);
  return ['Int', 'Float'].includes(named.name)
    ? name === 'offset'
      ? '0'
      : '9'
    : JSON.stringify(values.text);
}

/** Two levels of relations, which is round and back. */
function selection(type: GraphQLOutputType, levels = 3): string {
  const named = getNamedType(type);
  if (!isObjectType(named)) return '';
  const fields = Object.values(named.getFields()).filter(
    // A function of the user's own is not part of these servers.
    (field) => field.name !== 'minutes' && (levels > 0 || !isObjectType(getNamedType(field.type))),
  );
  return ` { ${fields.map((field) => `${field.name}${selection(field.type, levels - 1)}`).join(' ')} }`;
}
