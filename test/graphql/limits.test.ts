import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getIntrospectionQuery } from 'graphql';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { startServer, type TestOptions, type TestServer } from './harness.ts';

const SDL = `
  type Author { id: ID! name: String! posts(limit: Int): [Post!]! }
  type Post { id: ID! title: String! author: Author! }
  type Query { authors(limit: Int): [Author!]! author(id: ID!): Author posts: [Post!]! slow: String boom: String }
  type Mutation { createAuthor(name: String!): Author! }
`;
const resolvers = {
  Query: {
    slow: () => new Promise((resolve) => setTimeout(resolve, 400, 'late')),
    boom: () => {
      throw new Error('the password is hunter2');
    },
  },
};

let server: TestServer;
afterEach(() => server?.close());
const start = async (options: TestOptions = {}) =>
  void (server = await startServer(SDL, { resolvers, ...options }));
const limits = (change: Record<string, number>): TestOptions => ({
  change: (project) => ({
    ...project,
    api: { ...project.api, limits: { ...project.api.limits, ...change } },
  }),
});
const post = (body: unknown, headers = {}) => server.call('POST', '/graphql', { body, headers });
const refusal = async (body: unknown) => {
  const { status, body: answer } = await post(body);
  return [status, answer.errors?.[0].extensions.code, answer.errors?.[0].extensions.limit];
};

describe('limits', () => {
  it('refuse with 400, a code and the figure', async () => {
    await start({ ...limits({ batch: 2 }) });
    const nested = (levels: number) =>
      '{ posts { '.concat('author { posts { '.repeat(levels), 'id ', '} } '.repeat(levels), '} }');
    const fragments = [
      'fragment F0 on Author { a1: name a2: name a3: name a4: name }',
      ...Array.from({ length: 9 }, (_, i) => `fragment F${i + 1} on Author { ...F${i} ...F${i} }`),
    ].join(' ');
    expect(await refusal({ query: nested(15) })).toEqual([400, 'TOO_DEEP', 12]);
    expect(await refusal({ query: nested(4) })).toEqual([400, 'TOO_COSTLY', 50_000]);
    expect(
      await refusal({
        query: `{ ${Array.from({ length: 31 }, (_, i) => `a${i}: author(id: 1) { id }`).join(' ')} }`,
      }),
    ).toEqual([400, 'TOO_MANY_ALIASES', 30]);
    expect(await refusal({ query: `{ author(id: 1) { ...F9 } } ${fragments}` })).toEqual([
      400,
      'TOO_MANY_ALIASES',
      30,
    ]);
    expect(await refusal({ query: `{ ${'author(id: 1) { id } '.repeat(21)} }` })).toEqual([
      400,
      'TOO_MANY_ROOT_FIELDS',
      20,
    ]);
    expect(
      await refusal({
        query: `{ author(id: 1) { ${'... @include(if: true) { id } '.repeat(51)} } }`,
      }),
    ).toEqual([400, 'TOO_MANY_DIRECTIVES', 50]);
    expect(await refusal({ query: `{ author(id: 1) { ${'name '.repeat(2000)} } }` })).toEqual([
      400,
      'TOO_MANY_TOKENS',
      2000,
    ]);
    expect(
      await refusal({
        query:
          'query ($n: Int) { authors(limit: $n) { posts(limit: $n) { author { posts(limit: $n) { id } } } } }',
        variables: { n: 50 },
      }),
    ).toEqual([400, 'TOO_COSTLY', 50_000]);
    expect(
      (
        await post({
          query:
            'query ($n: Int) { authors(limit: $n) { posts(limit: $n) { author { posts(limit: $n) { id } } } } }',
          variables: { n: 10 },
        })
      ).status,
    ).toBe(200);
    expect(
      await refusal([
        { query: '{ __typename }' },
        { query: '{ __typename }' },
        { query: '{ __typename }' },
      ]),
    ).toEqual([400, 'BATCH_TOO_LARGE', 2]);
    expect(
      (await post([{ query: '{ __typename }' }, { query: '{ nothing }' }])).body,
    ).toMatchObject([{ data: { __typename: 'Query' } }, { errors: [{}] }]);
  });

  it('let through what real clients send', async () => {
    await start();
    const nested = `query { __schema { types { name fields { name type { name ofType { name ofType { name ofType { name ofType { name } } } } } } } } }`;
    for (const query of [
      nested,
      getIntrospectionQuery(),
      '{ authors { name posts { title author { name } } } }',
      '{ posts { author { posts { author { name } } } } }',
    ]) {
      expect((await post({ query })).body.errors).toBeUndefined();
    }
  });

  it('bound the body, the time and the result', async () => {
    await start({ ...limits({ time: 100, result: 300 }) });
    expect(
      (await post({ query: '{ __typename }', extensions: { x: 'y'.repeat(2 ** 20) } })).status,
    ).toBe(413);
    const chunked = await fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      duplex: 'half',
      body: new ReadableStream({
        pull: (controller) => controller.enqueue(new Uint8Array(65_536)),
      }),
    } as RequestInit).catch(() => ({ status: 413 }));
    expect(chunked.status).toBe(413);
    expect(await refusal({ query: '{ slow }' })).toEqual([400, 'TIMEOUT', 100]);
    for (let i = 0; i < 10; i++)
      await post({
        query: 'mutation { createAuthor(name: "a rather long name of an author") { id } }',
      });
    expect(await refusal({ query: '{ authors { name } }' })).toEqual([
      400,
      'RESULT_TOO_LARGE',
      300,
    ]);
  });

  it('keep values from being nested without end', async () => {
    await start();
    const deep = '['.repeat(5000).concat(']'.repeat(5000));
    expect(
      await refusal(`{ "query": "{ __typename }", "variables": { "deep": ${deep} } }`),
    ).toEqual([400, 'TOO_DEEP', 64]);
  });
});

describe('the endpoint', () => {
  it('refuses what a page of another site could send', async () => {
    await start();
    const query = 'mutation { createAuthor(name: "x") { id } }';
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      '',
    ]) {
      const response = await fetch(`${server.url}/graphql`, {
        method: 'POST',
        headers: type ? { 'content-type': type } : {},
        body: JSON.stringify({ query }),
      });
      expect(response.status).toBe(415);
    }
    expect((await server.call('GET', `/graphql?query=${encodeURIComponent(query)}`)).status).toBe(
      405,
    );
    const cross = { 'sec-fetch-site': 'cross-site' };
    expect(
      (await server.call('GET', '/graphql?query={__typename}', { headers: cross })).status,
    ).toBe(403);
    expect(
      (
        await server.call('GET', '/graphql?query={__typename}', {
          headers: { ...cross, 'x-requested-with': 'x' },
        })
      ).status,
    ).toBe(200);
    expect(await server.store.db.selectFrom('authors').select('id').execute()).toEqual([]);
  });

  it('tells nothing of an error that it does not know, and everything in the log', async () => {
    await start();
    const { body } = await post({ query: '{ boom }' });
    expect(body).toMatchObject({
      data: { boom: null },
      errors: [
        {
          message: 'Internal server error',
          path: ['boom'],
          locations: [{ line: 1, column: 3 }],
          extensions: { code: 'INTERNAL_SERVER_ERROR' },
        },
      ],
    });
    expect(JSON.stringify(body)).not.toContain('hunter2');
    const line = server.lines.find((text) => text.includes('hunter2')) ?? '{}';
    expect(JSON.parse(line).requestId).toBe(body.errors[0].extensions.requestId);
  });

  it('hides introspection, suggestions and the explorer in production', async () => {
    await start({ env: { NODE_ENV: 'production' } });
    expect(
      (await post({ query: '{ __schema { types { name } } }' })).body.errors[0].extensions.code,
    ).toBe('GRAPHQL_VALIDATION_FAILED');
    expect(
      (await post({ query: '{ author(id: 1) { nam } }' })).body.errors[0].message,
    ).not.toContain('name');
    expect(
      (
        await post({
          query: 'mutation ($v: Int!) { createAuthor(nam: $v) { id } }',
          variables: { v: 'x' },
        })
      ).body.errors[0].message,
    ).not.toContain('Did you mean');
    expect(
      (await server.call('GET', '/graphql', { headers: { accept: 'text/html' } })).status,
    ).toBe(406);
    await server.close();
    await start();
    expect((await post({ query: '{ author(id: 1) { nam } }' })).body.errors[0].message).toContain(
      'Did you mean "name"',
    );
    expect(
      (await server.call('GET', '/graphql', { headers: { accept: 'text/html' } })).body,
    ).toContain('GraphQL explorer');
  });

  it('keeps its cache of documents within bounds', async () => {
    const { createDocumentCache } = await import('../../runtime/core/graphql/document-cache.ts');
    await start();
    const schema = (await import('graphql')).buildSchema(server.project.sdl);
    const cache = createDocumentCache({
      schema,
      limits: server.project.api.limits,
      introspection: true,
      suggestions: true,
      entries: 10,
      bytes: 60_000,
    });
    for (let i = 0; i < 50; i++) cache.get(`{ a${i}: __typename }`);
    expect(cache.size).toBe(10);
    cache.get(`{ __typename } #${'x'.repeat(30_000)}`);
    expect(cache.size).toBe(1);
    expect(cache.get('{ __typename }').prepared).toBe(cache.get('{ __typename }').prepared);
  });
});

describe('trusted documents', () => {
  const text = '{ authors { name } }';
  const hash = createHash('sha256').update(text).digest('hex');
  const persisted = { persistedQuery: { version: 1, sha256Hash: hash } };

  it('are registered by clients as Apollo does it', async () => {
    await start();
    expect((await post({ extensions: persisted })).body.errors[0]).toMatchObject({
      message: 'PersistedQueryNotFound',
      extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' },
    });
    expect(
      (await post({ query: '{ __typename }', extensions: persisted })).body.errors[0].extensions
        .code,
    ).toBe('PERSISTED_QUERY_HASH_MISMATCH');
    expect((await post({ query: text, extensions: persisted })).body).toEqual({
      data: { authors: [] },
    });
    expect((await post({ extensions: persisted })).body).toEqual({ data: { authors: [] } });
    expect(
      (
        await server.call(
          'GET',
          `/graphql?extensions=${encodeURIComponent(JSON.stringify(persisted))}`,
        )
      ).body,
    ).toEqual({ data: { authors: [] } });
  });

  it('are all that is run when the list is mandatory', async () => {
    const root = mkdtempSync(join(tmpdir(), 'trusted-'));
    onTestFinished(() => rmSync(root, { recursive: true }));
    writeFileSync(join(root, 'documents.json'), JSON.stringify({ [hash]: text }));
    await start({
      root,
      change: (project) => ({
        ...project,
        api: { ...project.api, trustedDocuments: { file: 'documents.json', required: true } },
      }),
    });
    expect((await post({ documentId: `sha256:${hash}` })).body).toEqual({ data: { authors: [] } });
    expect((await post({ query: text })).body).toEqual({ data: { authors: [] } });
    expect(await post({ query: '{ __typename }' })).toMatchObject({
      status: 400,
      body: { errors: [{ extensions: { code: 'DOCUMENT_NOT_TRUSTED' } }] },
    });
    await expect(
      startServer(SDL, {
        root,
        change: (project) => ({
          ...project,
          api: { ...project.api, trustedDocuments: { file: 'nothing.json', required: true } },
        }),
      }),
    ).rejects.toThrow('nothing.json');
  });
});
