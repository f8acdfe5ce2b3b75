import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { describe, expect, it, vi } from 'vitest';
import { AppError } from '../../runtime/core/index.ts';
import type { GraphqlHooks } from '../../runtime/core/index.ts';
import { call, hooked, PREPARED, RUN, streamed, useHookedServer } from './hooked-server.ts';

// Acceptance 10 of "GraphQL, part two": every hook runs once, where it should.

useHookedServer();

describe('the hooks of plugins', () => {
  it('run once each, in the order of the plugins, and in reverse afterwards', async () => {
    const query = 'query First { notes { id } }';
    expect((await call({ query })).body).toEqual({ data: { notes: [] } });
    expect(hooked.said).toEqual([...PREPARED, ...RUN('query First')]);
    expect(hooked.looked).toBe(1);
  });

  it('see the parsing and the rules of a document once, however often it is asked', async () => {
    const query = 'query Often { notes { id } }';
    await Promise.all([1, 2, 3].map(() => call({ query })));
    await call({ query });
    expect(hooked.said.filter((each) => /parse|valid/.test(each))).toEqual(PREPARED);
    expect(hooked.said.filter((each) => each === 'a executed')).toHaveLength(4);
    expect(hooked.looked).toBe(1);
  });

  it('run for GET, for each operation of a batch, for a mutation and over an event stream', async () => {
    await call(undefined, {
      method: 'POST',
      body: JSON.stringify([
        { query: 'query One { notes { id } }' },
        { query: 'query Two { notes { id } }' },
      ]),
    });
    expect(hooked.said.filter((each) => / execute /.test(each))).toEqual([
      'a execute query One',
      'b execute query One',
      'a execute query Two',
      'b execute query Two',
    ]);
    hooked.said = [];
    const got = await fetch(
      `${hooked.url}/graphql?query=${encodeURIComponent('query Got { notes { id } }')}`,
    );
    expect(await got.json()).toEqual({ data: { notes: [] } });
    expect(hooked.said).toEqual([...PREPARED, ...RUN('query Got')]);
    hooked.said = [];
    await call({ query: 'mutation Make { createNote(text: "x") { id } }' });
    expect(hooked.said).toEqual([...PREPARED, ...RUN('mutation Make')]);
    hooked.said = [];
    const { text } = await streamed('query Streamed { note(id: 9) { id } }');
    expect(text).toContain('data: {"data":{"note":null}}');
    expect(hooked.said).toEqual([...PREPARED, ...RUN('query Streamed')]);
  });

  it('refuse by a throw, with its code and status, and mask what has no code', async () => {
    hooked.hooks = {
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
    expect(hooked.said.slice(8)).toEqual(['a execute query Coded', 'a format PAY', 'b format PAY']);
    const masked = await call({ query: 'query Other { notes { id } }' });
    expect(masked.body.errors[0]).toMatchObject({
      message: 'Internal server error',
      extensions: { code: 'INTERNAL_SERVER_ERROR' },
    });
    expect(masked.text).not.toContain('secret');
    expect(hooked.lines.join('')).toContain('a secret');
    const unread = await call({ query: 'query noParse { notes { id } }' });
    expect([unread.status, unread.body.errors[0].extensions.code]).toEqual([451, 'NOT_READ']);
    hooked.hooks = {};
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
    hooked.hooks = own;
    hooked.lines.length = 0;
    const { body, text } = await call({ query: `query ${name} { notes { id } }` });
    expect(body.errors[0]).toMatchObject({
      message: 'Internal server error',
      extensions: { code: 'INTERNAL_SERVER_ERROR' },
    });
    expect(text).not.toContain('slip ');
    expect(hooked.lines.filter((line) => JSON.parse(line).level >= 50).join('')).toContain('slip ');
  });

  it('pass on a GraphQLError with a code', async () => {
    hooked.hooks = {
      onExecute: () => {
        throw new GraphQLError('pay first', { extensions: { code: 'PAY' } });
      },
    };
    const { body } = await call({ query: 'query Coded { notes { id } }' });
    expect(body.errors).toEqual([{ message: 'pay first', extensions: { code: 'PAY' } }]);
  });

  it('answer in place of the operation, which does not run', async () => {
    hooked.hooks = { onExecute: () => ({ result: { data: { notes: 'cached' } } }) };
    const made = 'mutation Once { createNote(text: "never") { id } }';
    expect((await call({ query: made })).body).toEqual({ data: { notes: 'cached' } });
    expect(hooked.said.slice(8)).toEqual(['a execute mutation Once']);
    hooked.hooks = {};
    const { body } = await call({ query: '{ notes { text } }' });
    expect(JSON.stringify(body)).not.toContain('never');
  });

  it('change the answer: data, errors and extensions, or all of it', async () => {
    hooked.hooks = {
      onExecute: () => (done) => {
        done.result.extensions = { took: 1 };
        done.result.data.note = { id: '7' };
      },
    };
    expect((await call({ query: '{ note(id: 5) { id } }' })).body).toEqual({
      data: { note: { id: '7' } },
      extensions: { took: 1 },
    });
    hooked.hooks = { onExecute: () => () => ({ data: null, errors: [{ message: 'mine' }] }) };
    hooked.said = [];
    expect((await call({ query: '{ note(id: 5) { id } }' })).body).toEqual({
      errors: [{ message: 'mine' }],
      data: null,
    });
    expect(hooked.said.at(-1)).toBe('b format undefined');
  });

  it('make the object of an answer only when it is read, and send one that is only read as it was', async () => {
    const parse = vi.spyOn(JSON, 'parse');
    const parsed = () =>
      parse.mock.calls.filter(([text]) => String(text).includes('"data"')).length;
    try {
      hooked.hooks = { onExecute: () => () => {} };
      await fetch(`${hooked.url}/graphql?query={notes{id}}`).then((each) => each.text());
      expect(parsed()).toBe(0);
      let read: unknown;
      hooked.hooks = {
        onExecute:
          () =>
          ({ result }) =>
            void (read = result.data),
      };
      const query = encodeURIComponent('{ note(id: 404) { id } }');
      const text = await fetch(`${hooked.url}/graphql?query=${query}`).then((each) => each.text());
      expect([read, text]).toEqual([{ note: null }, '{"data":{"note":null}}']);
      expect(parsed()).toBeGreaterThan(0);
    } finally {
      parse.mockRestore();
    }
  });
});
