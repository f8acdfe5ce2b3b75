import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { pathToFileURL } from 'node:url';
import { GraphQLError, type GraphQLFormattedError, print, type ValidationContext } from 'graphql';
import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { AppError, createServer, defineApp, failure } from '../../runtime/core/index.ts';
import type { GraphqlHooks, Plugin, Running } from '../../runtime/core/index.ts';
import { projectOf } from './harness.ts';

// Acceptance 10 of "GraphQL, part two": every hook runs once, where it should.

const SDL = `
  type Note { id: ID! text: String! broken: String @computed }
  type Query { notes(limit: Int): [Note!]! note(id: ID!): Note bug: String }
  type Mutation { createNote(text: String!): Note! }
  type Subscription { noteCreated: Note! }
`;
const MANIFEST = 'name: hooks\napi: { limits: { batch: 5 } }\n';
const LISTED = 'query Listed { notes { id } }';
const FORBIDDEN = 'query Bad { forbidden: notes { id } }';

/** What a rule of the project refuses: an alias. It counts how often it looks. */
let looked = 0;
const noForbidden = (context: ValidationContext) => {
  looked += 1;
  return {
    Field: (node: any) => {
      if (node.alias?.value === 'forbidden')
        context.reportError(new GraphQLError('forbidden is no name', { nodes: [node] }));
    },
  };
};

let said: string[] = [];
/** What the first plugin does besides saying what runs; each test sets its own. */
let hooks: GraphqlHooks = {};
let operationOf: (call: any) => string;

function plugin(name: string, first: boolean): Plugin {
  const say = (what: string) => void said.push(`${name} ${what}`);
  return {
    name,
    before: (ctx: any, next: any) => {
      if (first && ctx.get('x-wrong')) throw failure.unauthenticated('a wrong key');
      return next();
    },
    resolvers: {
      Query: {
        bug: () => {
          throw new RangeError('a secret');
        },
      },
      Note: {
        broken: () => {
          throw new RangeError('a secret');
        },
      },
    },
    graphql: {
      ...(first && { validationRules: [noForbidden] }),
      onParse: ({ source }) => {
        say('parse');
        if (first && source.includes('noParse')) throw new AppError(451, 'NOT_READ', 'not read');
        if (first && source.includes('parseSlip')) throw new GraphQLError('slip of parsing');
        return ({ document }) => say(document ? 'parsed' : 'no document');
      },
      onValidate: ({ document }) => {
        say('validate');
        if (first && print(document).includes('validateSlip'))
          throw new GraphQLError('slip of validation');
        return ({ errors }) => say(`validated ${errors.length}`);
      },
      onExecute: async (call) => {
        say(`execute ${operationOf(call)}`);
        const own = first ? await hooks.onExecute?.(call) : undefined;
        if (own && typeof own === 'object') return own;
        return async (done) => {
          say('executed');
          return own?.(done);
        };
      },
      onSubscribe: async (call) => {
        say(`subscribe ${call.operationName}`);
        const own = first ? await hooks.onSubscribe?.(call) : undefined;
        return (done) => {
          say('event');
          return own ? own(done) : done.event;
        };
      },
      formatError: (formatted, failed) => {
        say(`format ${formatted.extensions?.['code']}`);
        return (first && hooks.formatError?.(formatted, failed)) || formatted;
      },
    },
  };
}

let running: Running;
let folder: string;
const lines: string[] = [];

async function start(manifest = MANIFEST): Promise<Running> {
  const server = createServer(
    defineApp({ project: projectOf(SDL, manifest), root: pathToFileURL(`${folder}/`) }),
  );
  for (const [at, name] of ['a', 'b'].entries()) server.plugin(plugin(name, at === 0));
  return server.start('127.0.0.1:0', {
    env: { DATABASE_URL: ':memory:' },
    logTo: { write: (line) => void lines.push(line) },
  });
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hooks-'));
  writeFileSync(join(folder, 'listed.json'), JSON.stringify([LISTED]));
  writeFileSync(
    join(folder, 'bad.json'),
    JSON.stringify([LISTED, FORBIDDEN, 'query Old { gone }']),
  );
  running = await start();
});
afterAll(async () => {
  await running.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  said = [];
  looked = 0;
  hooks = {};
  operationOf = ({ operationType, operationName }) => `${operationType} ${operationName}`;
});

async function call(body: unknown, options: RequestInit = {}, url = running.url) {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    body: JSON.stringify(body),
    ...options,
    headers: { 'content-type': 'application/json', ...options.headers },
  });
  const text = await response.text();
  return {
    status: response.status,
    text,
    body: text.startsWith('event') ? null : JSON.parse(text),
  };
}

const ALL = [
  'a parse',
  'b parse',
  'b parsed',
  'a parsed',
  'a validate',
  'b validate',
  'b validated 0',
  'a validated 0',
];
const RUN = (operation: string) => [
  `a execute ${operation}`,
  `b execute ${operation}`,
  'b executed',
  'a executed',
];

describe('the hooks of plugins', () => {
  it('run once each, in the order of the plugins, and in reverse afterwards', async () => {
    const query = 'query First { notes { id } }';
    expect((await call({ query })).body).toEqual({ data: { notes: [] } });
    expect(said).toEqual([...ALL, ...RUN('query First')]);
    expect(looked).toBe(1);
  });

  it('see the parsing and the rules of a document once, however often it is asked', async () => {
    const query = 'query Often { notes { id } }';
    await Promise.all([1, 2, 3].map(() => call({ query })));
    await call({ query });
    expect(said.filter((each) => /parse|valid/.test(each))).toEqual(ALL);
    expect(said.filter((each) => each === 'a executed')).toHaveLength(4);
    expect(looked).toBe(1);
  });

  it('run for GET, for each operation of a batch, for a mutation and over an event stream', async () => {
    await call(undefined, {
      method: 'POST',
      body: JSON.stringify([
        { query: 'query One { notes { id } }' },
        { query: 'query Two { notes { id } }' },
      ]),
    });
    expect(said.filter((each) => / execute /.test(each))).toEqual([
      'a execute query One',
      'b execute query One',
      'a execute query Two',
      'b execute query Two',
    ]);
    said = [];
    const got = await fetch(
      `${running.url}/graphql?query=${encodeURIComponent('query Got { notes { id } }')}`,
    );
    expect(await got.json()).toEqual({ data: { notes: [] } });
    expect(said).toEqual([...ALL, ...RUN('query Got')]);
    said = [];
    await call({ query: 'mutation Make { createNote(text: "x") { id } }' });
    expect(said).toEqual([...ALL, ...RUN('mutation Make')]);
    said = [];
    const { text } = await streamed('query Streamed { note(id: 9) { id } }');
    expect(text).toContain('data: {"data":{"note":null}}');
    expect(said).toEqual([...ALL, ...RUN('query Streamed')]);
  });

  it('refuse by a throw, with its code and status, and mask what has no code', async () => {
    hooks = {
      onExecute: ({ operationName }) => {
        if (operationName === 'Coded') throw new AppError(402, 'PAY', 'pay first');
        throw new RangeError('a secret');
      },
    };
    const coded = await call({ query: 'query Coded { notes { id } }' });
    expect([coded.status, coded.body.errors[0]]).toEqual([
      402,
      { message: 'pay first', extensions: { code: 'PAY' } },
    ]);
    // The second plugin has not begun, so nothing of it ends.
    expect(said.slice(8)).toEqual(['a execute query Coded', 'a format PAY', 'b format PAY']);
    const masked = await call({ query: 'query Other { notes { id } }' });
    expect(masked.body.errors[0]).toMatchObject({
      message: 'Internal server error',
      extensions: { code: 'INTERNAL_SERVER_ERROR' },
    });
    expect(masked.text).not.toContain('secret');
    expect(lines.join('')).toContain('a secret');
    const unread = await call({ query: 'query noParse { notes { id } }' });
    expect([unread.status, unread.body.errors[0].extensions.code]).toEqual([451, 'NOT_READ']);
    hooks = {};
    expect((await call({ query: 'query noParse { notes { id } }' })).status).toBe(451);
  });

  const slips: Record<string, GraphqlHooks> = {
    parseSlip: {},
    validateSlip: {},
    executeSlip: {
      onExecute: () => {
        throw new GraphQLError('slip of execution');
      },
    },
    afterSlip: {
      onExecute: () => () => {
        throw new GraphQLError('slip afterwards');
      },
    },
    addedSlip: {
      onExecute: () => (done) => {
        done.result.errors = [new GraphQLError('slip in errors') as GraphQLFormattedError];
      },
    },
    answeredSlip: {
      onExecute: () => ({
        result: { errors: [new GraphQLError('slip in answer') as GraphQLFormattedError] },
      }),
    },
  };

  it.each(Object.entries(slips))('mask a GraphQLError without a code: %s', async (name, own) => {
    hooks = own;
    lines.length = 0;
    const { body, text } = await call({ query: `query ${name} { notes { id } }` });
    expect(body.errors[0]).toMatchObject({
      message: 'Internal server error',
      extensions: { code: 'INTERNAL_SERVER_ERROR' },
    });
    expect(text).not.toContain('slip ');
    expect(lines.filter((line) => JSON.parse(line).level >= 50).join('')).toContain('slip ');
  });

  it('pass on a GraphQLError with a code', async () => {
    hooks = {
      onExecute: () => {
        throw new GraphQLError('pay first', { extensions: { code: 'PAY' } });
      },
    };
    const { body } = await call({ query: 'query Coded { notes { id } }' });
    expect(body.errors).toEqual([{ message: 'pay first', extensions: { code: 'PAY' } }]);
  });

  it('answer in place of the operation, which does not run', async () => {
    hooks = { onExecute: () => ({ result: { data: { notes: 'cached' } } }) };
    const made = 'mutation Once { createNote(text: "never") { id } }';
    expect((await call({ query: made })).body).toEqual({ data: { notes: 'cached' } });
    expect(said.slice(8)).toEqual(['a execute mutation Once']);
    hooks = {};
    const { body } = await call({ query: '{ notes { text } }' });
    expect(JSON.stringify(body)).not.toContain('never');
  });

  it('change the answer: data, errors and extensions, or all of it', async () => {
    hooks = {
      onExecute: () => (done) => {
        done.result.extensions = { took: 1 };
        done.result.data.note = { id: '7' };
      },
    };
    expect((await call({ query: '{ note(id: 5) { id } }' })).body).toEqual({
      data: { note: { id: '7' } },
      extensions: { took: 1 },
    });
    hooks = { onExecute: () => () => ({ data: null, errors: [{ message: 'mine' }] }) };
    said = [];
    expect((await call({ query: '{ note(id: 5) { id } }' })).body).toEqual({
      errors: [{ message: 'mine' }],
      data: null,
    });
    expect(said.at(-1)).toBe('b format undefined');
  });

  it('make the object of an answer only when it is read, and send one that is only read as it was', async () => {
    const parse = vi.spyOn(JSON, 'parse');
    const parsed = () =>
      parse.mock.calls.filter(([text]) => String(text).includes('"data"')).length;
    try {
      hooks = { onExecute: () => () => {} };
      await fetch(`${running.url}/graphql?query={notes{id}}`).then((each) => each.text());
      expect(parsed()).toBe(0);
      let read: unknown;
      hooks = {
        onExecute:
          () =>
          ({ result }) =>
            void (read = result.data),
      };
      const query = encodeURIComponent('{ note(id: 404) { id } }');
      const text = await fetch(`${running.url}/graphql?query=${query}`).then((each) => each.text());
      expect([read, text]).toEqual([{ note: null }, '{"data":{"note":null}}']);
      expect(parsed()).toBeGreaterThan(0);
    } finally {
      parse.mockRestore();
    }
  });
});

async function streamed(query: string, stop = (text: string) => text.includes('complete')) {
  const abort = new AbortController();
  const response = await fetch(`${running.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ query }),
    signal: abort.signal,
  });
  let text = '';
  for await (const piece of response.body!) {
    text += Buffer.from(piece).toString();
    if (stop(text)) break;
  }
  abort.abort();
  return { status: response.status, text };
}

describe('onSubscribe', () => {
  const make = (text: string) =>
    call({ query: `mutation Make { createNote(text: "${text}") { id } }` });
  const QUERY = 'subscription Told { noteCreated { text } }';
  /** The texts of the events that a subscriber gets until one says "last". */
  const heard: Record<string, () => Promise<string[]>> = {
    websocket: () =>
      new Promise((resolve, reject) => {
        const client = createClient({
          url: `${running.url.replace('http', 'ws')}/graphql`,
          webSocketImpl: WebSocket,
          retryAttempts: 0,
        });
        const texts: string[] = [];
        client.subscribe<any>(
          { query: QUERY },
          {
            next: ({ data }) => {
              texts.push(data.noteCreated.text);
              if (data.noteCreated.text === 'last!') void client.dispose();
            },
            error: reject,
            complete: () => resolve(texts),
          },
        );
      }),
    'event stream': async () => {
      const { text } = await streamed(QUERY, (all) => all.includes('last!'));
      return [...text.matchAll(/"text":"(\w+!?)"/g)].map(([, each]) => each!);
    },
  };

  it.each(Object.keys(heard))('changes and drops events over %s, once each', async (transport) => {
    hooks = {
      onSubscribe:
        () =>
        ({ event }) => {
          if (event.data.noteCreated.text === 'dropped') return null;
          event.data.noteCreated.text += '!';
          return event;
        },
    };
    const done = heard[transport]!();
    await vi.waitFor(() => expect(said).toContain('b subscribe Told'));
    await new Promise((resolve) => setTimeout(resolve, 100));
    said = said.filter((each) => each.includes('subscribe'));
    for (const text of ['first', 'dropped', 'last']) await make(text);
    expect(await done).toEqual(['first!', 'last!']);
    expect(said.filter((each) => /subscribe|event/.test(each))).toEqual([
      'a subscribe Told',
      'b subscribe Told',
      ...['first', 'dropped', 'last'].flatMap(() => ['b event', 'a event']),
    ]);
  });

  it('refuses by a throw', async () => {
    hooks = {
      onSubscribe: () => {
        throw new AppError(402, 'PAY', 'pay first');
      },
    };
    const { status, text } = await streamed(QUERY);
    expect([status, JSON.parse(text).errors[0].extensions.code]).toEqual([402, 'PAY']);
    const client = createClient({
      url: `${running.url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      retryAttempts: 0,
    });
    said = [];
    const error = await new Promise((resolve) =>
      client.subscribe({ query: QUERY }, { next: () => {}, error: resolve, complete: () => {} }),
    );
    expect(error).toMatchObject([{ message: 'pay first', extensions: { code: 'PAY' } }]);
    expect(said.filter((each) => each.includes('format'))).toEqual([
      'a format PAY',
      'b format PAY',
    ]);
    await client.dispose();
  });
});

describe('a GraphQLError of onSubscribe without a code', () => {
  const slip = () => {
    throw new GraphQLError('slip of a subscription');
  };
  it.each([
    ['before the first event', slip],
    ['at an event', () => slip],
  ])('is masked and logged %s', async (_, onSubscribe) => {
    hooks = { onSubscribe };
    lines.length = 0;
    const heard = streamed('subscription Slip { noteCreated { id } }', (all) => /errors/.test(all));
    await vi.waitFor(() => expect(said).toContain('a subscribe Slip'));
    await new Promise((resolve) => setTimeout(resolve, 100));
    await call({ query: 'mutation { createNote(text: "x") { id } }' });
    const { text } = await heard;
    expect(text).toContain('INTERNAL_SERVER_ERROR');
    expect(text).not.toContain('slip of');
    expect(lines.join('')).toContain('slip of a subscription');
  });
});

describe('formatError', () => {
  it('sees the errors inside an event', async () => {
    const seen: unknown[] = [];
    hooks = {
      formatError: (formatted, { error }) => {
        seen.push((error.originalError as Error | undefined)?.message);
        return { ...formatted, extensions: { ...formatted.extensions, more: 1 } };
      },
    };
    const heard = streamed('subscription Told { noteCreated { text broken } }', (all) =>
      all.includes('"text":"event"'),
    );
    await vi.waitFor(() => expect(said).toContain('b subscribe Told'));
    await new Promise((resolve) => setTimeout(resolve, 100));
    await call({ query: 'mutation { createNote(text: "event") { id } }' });
    const [, event = ''] = /data: (.*"text":"event".*)/.exec((await heard).text) ?? [];
    expect(JSON.parse(event)).toMatchObject({
      data: { noteCreated: { text: 'event', broken: null } },
      errors: [{ message: 'Internal server error', extensions: { more: 1 } }],
    });
    expect(seen).toEqual(['a secret']);
  });

  const json = (response: Response) => response.json() as Promise<any>;
  const graphql = () => `${running.url}/graphql`;
  const ways: Record<string, () => Promise<any>> = {
    GRAPHQL_PARSE_FAILED: async () => (await call({ query: '{' })).body,
    GRAPHQL_VALIDATION_FAILED: async () => (await call({ query: FORBIDDEN })).body,
    OPERATION_RESOLUTION_FAILURE: async () =>
      (await call({ query: 'query A { bug } query B { bug }' })).body,
    INTERNAL_SERVER_ERROR: async () => (await call({ query: '{ bug }' })).body,
    BAD_USER_INPUT: async () =>
      (await call({ query: 'query ($id: ID!) { note(id: $id) { id } }' })).body,
    UNAUTHENTICATED: () =>
      fetch(graphql(), { method: 'POST', headers: { 'x-wrong': '1' } }).then(json),
    METHOD_NOT_ALLOWED: () => fetch(graphql(), { method: 'PUT' }).then(json),
    NOT_ACCEPTABLE: () => fetch(graphql(), { headers: { accept: 'image/png' } }).then(json),
    UNSUPPORTED_MEDIA_TYPE: () => fetch(graphql(), { method: 'POST', body: 'x' }).then(json),
    TOO_LARGE: async () => (await call({ query: '#'.repeat(2_000_000) })).body,
    BATCH_TOO_LARGE: async () =>
      (await call(Array.from({ length: 6 }, () => ({ query: '{ bug }' })))).body,
  };

  it.each(Object.entries(ways))('sees %s once, masked, and changes it', async (code, ask) => {
    const seen: unknown[] = [];
    hooks = {
      formatError: (formatted, { error, ctx }) => {
        seen.push([formatted.extensions?.['code'], error instanceof Error, typeof ctx.id]);
        return { ...formatted, extensions: { ...formatted.extensions, more: 1 } };
      },
    };
    const { errors } = await ask();
    expect(errors[0].extensions).toMatchObject({ code, more: 1 });
    expect(seen).toEqual([[code, true, 'string']]);
    expect(JSON.stringify(errors)).not.toContain('secret');
  });

  it('gets the error itself beside the masked one', async () => {
    let own: unknown;
    hooks = {
      formatError: (formatted, { error }) => {
        own = (error.originalError as Error | undefined)?.message;
        return formatted;
      },
    };
    await call({ query: '{ bug }' });
    expect(own).toBe('a secret');
  });

  it('that throws is logged, and the masked error goes out', async () => {
    hooks = {
      formatError: () => {
        throw new Error('the hook is broken');
      },
    };
    const { body } = await call({ query: '{ bug }' });
    expect(body.errors[0].message).toBe('Internal server error');
    expect(lines.join('')).toContain('the hook is broken');
  });
});

describe('trusted documents', () => {
  const manifest = (file: string) => `name: hooks\napi: { trusted_documents: { file: ${file} } }\n`;

  it('are validated with the rules of plugins at the start, and not again', async () => {
    const server = await start(manifest('listed.json'));
    try {
      expect(looked).toBe(1);
      const { body } = await call({ query: LISTED }, {}, server.url);
      expect(body).toEqual({ data: { notes: [] } });
      expect(said).toEqual([...ALL, ...RUN('query Listed')]);
      expect(looked).toBe(1);
      const other = await call({ query: '{ notes { text } }' }, {}, server.url);
      expect(other.body.errors[0].extensions.code).toBe('DOCUMENT_NOT_TRUSTED');
      expect(said.slice(-2)).toEqual([
        'a format DOCUMENT_NOT_TRUSTED',
        'b format DOCUMENT_NOT_TRUSTED',
      ]);
    } finally {
      await server.close();
    }
  });

  it('that break one end the start, by name', async () => {
    await expect(start(manifest('bad.json'))).rejects.toThrow(
      'query Bad of api.trusted_documents: forbidden is no name',
    );
  });
});
