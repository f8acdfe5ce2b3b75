import { GraphQLError } from 'graphql';
import type { Middleware } from 'koa';
import { afterEach, describe, expect, it } from 'vitest';
import { createServer } from '../../runtime/core/server.ts';
import { capabilitiesFor } from '../capabilities.ts';
import { databases, projectOf, startServer, type TestServer } from './harness.ts';

let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const WRONG = `
  enum Color { RED GREEN }
  scalar DateTime
  type Dog { name: String! }
  type Cat { lives: Int! }
  union Pet = Dog | Cat
  type Note { id: ID! length: Int @computed when: DateTime @computed tags: [String!] @computed }
  type Mutation { createNote: Note! }
  type Query { notes: [Note!]! number: Int color: Color pet: Pet pets: [Pet] list: [String] when: DateTime }
`;

describe.each(databases)(
  'a function of the project that returns what its type is not, on %s',
  (database) => {
    it('is a bug of the server: masked for the caller, and logged with its coordinate', async () => {
      server = await startServer(WRONG, {
        database,
        resolvers: {
          Query: {
            number: () => 'text',
            color: () => 'BLUE',
            pet: () => ({ name: 'Rex' }),
            pets: async () => [{ __typename: 'Dog', name: 'Rex' }, { __typename: 'Bird' }],
            list: () => 'no list',
            when: () => 'yesterday',
          },
          Note: { length: () => 1.5, when: () => true, tags: () => 7 },
        },
      });
      await server.query('mutation { createNote { id } }');
      const { data, errors } = await server.query(
        '{ number color pet { __typename } pets { __typename } list when notes { id length when tags } }',
      );
      expect(data).toEqual({
        number: null,
        color: null,
        pet: null,
        pets: [{ __typename: 'Dog' }, null],
        list: null,
        when: null,
        notes: [{ id: '1', length: null, when: null, tags: null }],
      });
      expect(errors).toHaveLength(9);
      for (const { message, extensions } of errors!)
        expect([message, extensions]).toEqual([
          'Internal server error',
          { code: 'INTERNAL_SERVER_ERROR', requestId: expect.any(String) },
        ]);
      const logged = server.lines
        .map((line) => JSON.parse(line))
        .filter(({ level }) => level === 50);
      expect(logged.map(({ coordinate }) => coordinate).sort()).toEqual([
        'Note.length',
        'Note.tags',
        'Note.when',
        'Query.color',
        'Query.list',
        'Query.number',
        'Query.pet',
        'Query.pets',
        'Query.when',
      ]);
      for (const { reason } of logged) expect(reason).toContain('returned what its type is not');
    });

    it("leaves the caller's own mistakes the caller's", async () => {
      server = await startServer(WRONG, { database });
      const cases: [string, Record<string, unknown>][] = [
        ['query ($limit: Int = 1) { notes(limit: $limit) { id } }', { limit: 'x' }],
        ['{ notes(limit: "x") { id } }', {}],
      ];
      for (const [query, variables] of cases) {
        const { errors } = await server.query(query, variables);
        expect(errors![0].extensions.code).toMatch(/BAD_USER_INPUT|GRAPHQL_VALIDATION_FAILED/);
      }
    });
  },
);

describe('a GraphQLError that a function of the project throws', () => {
  const thrown: Record<string, () => unknown> = {
    coded: () => {
      throw new GraphQLError('out of stock', { extensions: { code: 'OUT_OF_STOCK', left: 0 } });
    },
    caused: () => {
      throw new GraphQLError('no access', {
        cause: new Error('a secret'),
        extensions: { code: 'NO_ACCESS' },
      });
    },
    returned: async () => new GraphQLError('returned', { extensions: { code: 'RETURNED' } }),
    bare: () => {
      throw new GraphQLError('a secret of the server');
    },
    wrapped: () => {
      throw new GraphQLError('wrapped', {
        cause: Object.assign(new Error('a secret'), { extensions: { code: 'OTHER' } }),
      });
    },
  };

  it('reaches the caller with message and extensions when it has a code, and is masked without', async () => {
    server = await startServer(
      'type Query { coded: Int caused: Int returned: Int bare: Int wrapped: Int }',
      { resolvers: { Query: thrown } },
    );
    const { errors } = await server.query('{ coded caused returned bare wrapped }');
    const known = Object.fromEntries(
      errors!.map(({ path, message, extensions }) => [path[0], [message, extensions]]),
    );
    const masked = [
      'Internal server error',
      { code: 'INTERNAL_SERVER_ERROR', requestId: expect.any(String) },
    ];
    expect(known).toEqual({
      coded: ['out of stock', { code: 'OUT_OF_STOCK', left: 0 }],
      caused: ['no access', { code: 'NO_ACCESS' }],
      returned: ['returned', { code: 'RETURNED' }],
      bare: masked,
      wrapped: masked,
    });
    expect(server.lines.join()).toContain('a secret of the server');
  });
});

describe('__resolveType and __isTypeOf', () => {
  const SDL = `
    interface Named { name: String }
    type Dog implements Named { name: String bark: String }
    type Cat implements Named { name: String }
    union Pet = Dog | Cat
    type Query { named: [Named!] pets: [Pet] dog: Dog }
  `;
  const animals = [{ bark: 'wuff' }, { name: 'Tom' }];

  it('of the project are asked, late ones too; then __typename of the value', async () => {
    server = await startServer(SDL, {
      resolvers: {
        Query: {
          named: () => animals,
          pets: () => [...animals, { __typename: 'Cat', name: 'Kit' }],
          dog: () => ({ name: 'no dog' }),
        },
        Named: { __resolveType: async (value: object) => ('bark' in value ? 'Dog' : 'Cat') },
        Dog: { __isTypeOf: async (value: object) => 'bark' in value },
      } as never,
    });
    const { data, errors } = await server.query(
      '{ named { __typename name ... on Dog { bark } } pets { __typename } dog { name } }',
    );
    expect(data).toEqual({
      named: [
        { __typename: 'Dog', name: null, bark: 'wuff' },
        { __typename: 'Cat', name: 'Tom' },
      ],
      pets: [{ __typename: 'Dog' }, null, { __typename: 'Cat' }],
      dog: null,
    });
    expect(errors!.map(({ path, message }) => [path.join('.'), message])).toEqual(
      expect.arrayContaining([
        ['pets.1', 'Internal server error'],
        ['dog', 'Internal server error'],
      ]),
    );
  });
});

describe('every answer of /graphql that is not 2xx', () => {
  const refuse = (status: number): Middleware => {
    return (ctx, next) =>
      ctx.get('x-refuse') === String(status) ? ctx.throw(status, 'Refused') : next();
  };

  it('is a list of errors with a code, in every media type', async () => {
    const project = projectOf(
      'type User { id: ID! email: String! @unique } type Query { users: [User!]! }',
      'name: test\nauth: {}\nserver: { body_limit: 1KiB }\n',
    );
    const own = createServer({ project, capabilities: capabilitiesFor(project) });
    for (const status of [403, 429, 503]) own.use(refuse(status));
    own.use((ctx, next) => {
      if (ctx.get('x-refuse') === 'bug') throw new Error('a secret');
      return next();
    });
    const running = await own.start('127.0.0.1:0', {
      env: {
        DATABASE_URL: ':memory:',
        JWT_SECRET: 'a test secret that is long enough to be one',
        LOG_LEVEL: 'silent',
      },
    });
    const json = { 'content-type': 'application/json' };
    const body = '{"query":"{ __typename }"}';
    const post = (headers: Record<string, string>, text = body) =>
      ({ method: 'POST', headers: { ...json, ...headers }, body: text }) as const;
    const cases: [number, string, RequestInit][] = [
      [401, 'UNAUTHENTICATED', post({ authorization: 'Bearer wrong' })],
      [401, 'UNAUTHENTICATED', post({ 'x-api-key': 'wrong' })],
      [403, 'FORBIDDEN', post({ 'x-refuse': '403' })],
      [405, 'METHOD_NOT_ALLOWED', { method: 'DELETE' }],
      [413, 'TOO_LARGE', post({}, `{"query":"{ __typename }${' '.repeat(2000)}"}`)],
      [
        415,
        'UNSUPPORTED_MEDIA_TYPE',
        { method: 'POST', headers: { 'content-type': 'text/plain' }, body },
      ],
      [429, 'RATE_LIMITED', post({ 'x-refuse': '429' })],
      [500, 'INTERNAL_SERVER_ERROR', post({ 'x-refuse': 'bug' })],
      [503, 'UNAVAILABLE', post({ 'x-refuse': '503' })],
    ];
    try {
      for (const accept of [
        'application/json',
        'application/graphql-response+json',
        'text/event-stream',
        '*/*',
      ])
        for (const [status, code, init] of cases) {
          const headers = { ...(init.headers as object), accept };
          const response = await fetch(`${running.url}/graphql`, { ...init, headers });
          const answer = await response.text();
          expect([accept, code, response.status]).toEqual([accept, code, status]);
          expect(response.headers.get('content-type')).toContain('json');
          expect(response.headers.get('x-content-type-options')).toBe('nosniff');
          expect(response.headers.get('strict-transport-security')).toContain('max-age=');
          const { errors } = JSON.parse(answer);
          expect([errors.length, errors[0].extensions.code]).toEqual([1, code]);
          expect(typeof errors[0].message).toBe('string');
          expect(answer).not.toContain('a secret');
        }
      const refused = await fetch(
        `${running.url}/graphql`,
        post({ authorization: 'Bearer wrong' }),
      );
      expect(refused.headers.get('www-authenticate')).toContain('invalid_token');
    } finally {
      await running.close();
    }
  });
});
