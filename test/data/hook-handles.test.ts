import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { EntityHook, EntityHooks } from '../../runtime/core/context/entity-hooks.ts';
import { failure } from '../../runtime/core/errors.ts';
import { createRest } from '../../runtime/core/rest/index.ts';
import { seedRows } from '../../runtime/database/seed/index.ts';
import type { Kernel } from '../../runtime/core/module.ts';
import { databases, startServer, type TestServer } from '../graphql/harness.ts';
import { HANDLES } from './handles.ts';

const SDL = `
  type Ticket { id: ID! text: String! @unique seen: Int box: Box }
  type Note { id: ID! text: String! seen: Int }
  type Box { id: ID! name: String! @unique tickets: [Ticket!]! }
  input NewTicket { text: String! }
  input TicketPatch { text: String }
  input TicketKey { id: ID! }
  input NewBox { name: String! tickets: BoxTickets }
  input BoxPatch { name: String tickets: BoxTickets }
  input BoxTickets { create: [NewTicket!] connect: [TicketKey!] connectOrCreate: [TicketOrNew!] update: [TicketChange!] delete: [TicketKey!] }
  input TicketOrNew { where: TicketText! create: NewTicket! }
  input TicketText { text: String! }
  input TicketChange { where: TicketKey! data: TicketPatch! }
  input TicketFilter { text: TextFilter }
  input TextFilter { eq: String startsWith: String }
  type Query { notes: [Note!]! note(id: ID!): Note tickets: [Ticket!]! ticket(id: ID!): Ticket boxes: [Box!]! }
  type Mutation {
    createTicket(input: NewTicket!): Ticket!
    updateTicket(id: ID!, input: TicketPatch!): Ticket
    deleteTicket(id: ID!): Ticket
    upsertTicket(text: String!, create: NewTicket!, update: TicketPatch!): Ticket!
    createTickets(input: [NewTicket!]!, skipDuplicates: Boolean): [Ticket!]!
    updateTickets(where: TicketFilter!, input: TicketPatch!): Int!
    deleteTickets(where: TicketFilter!): Int!
    createNote(text: String!): Note!
    note(text: String!): Int! @resolve(as: CUSTOM)
    createBox(input: NewBox!): Box!
    updateBox(id: ID!, input: BoxPatch!): Box
    byData(text: String!): Int! @resolve(as: CUSTOM)
    together(text: String!): Int! @resolve(as: CUSTOM)
    within(text: String!): Int! @resolve(as: CUSTOM)
  }
`;

const HOOKS = ['resolveInput', 'validate', 'beforeOperation', 'afterOperation', 'afterCommit'];
const BEFORE = new Set(HOOKS.slice(0, 3));

describe.each(databases)('a hook that uses the database, on %s', (database) => {
  let server: TestServer;
  let kernel: Kernel;
  let folder: string;
  let hook = '';
  let handles: readonly string[] = [];
  let fails = false;
  let seen: Record<string, number[]> = {};

  /** One function for each hook. The one that is tried counts the tickets by each handle. */
  const tried =
    (name: string): EntityHook =>
    async ({ ctx, operation }: any) => {
      if (name === hook)
        for (const handle of handles)
          (seen[handle] ??= []).push(await HANDLES[handle]!(ctx, 'Ticket'));
      if (name === 'afterOperation' && fails) throw failure.conflict('too late');
      return name === 'resolveInput' && operation !== 'delete' ? { seen: 1 } : undefined;
    };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hook-handles-'));
    server = await startServer(SDL, {
      database,
      ...(database === 'sqlite' && { url: `file:${join(folder, 'data.db')}` }),
      pool: 1,
      manifest: 'name: handles\napi: { rest: true }\ndatabase: { transaction_timeout: 2s }\n',
      also: (given, { service: { engine } }) => createRest({ kernel: (kernel = given), engine }),
      entityHooks: {
        Ticket: Object.fromEntries(HOOKS.map((name) => [name, tried(name)])) as EntityHooks,
        // With this hook alone, a create is one statement, which needs no transaction of its own.
        Note: {
          resolveInput: {
            create: async ({ ctx }) => {
              const [handle = ''] = handles;
              return handle === '' ? {} : { seen: await HANDLES[handle]!(ctx, 'Note') };
            },
          },
        },
      },
      resolvers: {
        Mutation: {
          note: async (_parent: unknown, { text }: any, ctx: any) => {
            const { seen } = await ctx.data.note.create({ data: { text } });
            return seen;
          },
          byData: async (_parent: unknown, { text }: any, ctx: any) => {
            await ctx.data.ticket.create({ data: { text } });
            return 1;
          },
          together: async (_parent: unknown, { text }: any, ctx: any) => {
            const [, , row] = await Promise.all([
              ctx.data.ticket.create({ data: { text } }),
              ctx.data.ticket.create({ data: { text: `${text} 2` } }),
              ctx.loaders.ticket.load('1001'),
              ctx.data.ticket.count(),
            ]);
            return row === null ? 2 : 3;
          },
          within: async (_parent: unknown, { text }: any, ctx: any) => {
            await ctx.db.insertInto('boxes').values({ name: text }).execute();
            await ctx.transaction(() => ctx.data.ticket.create({ data: { text } }));
            return 1;
          },
        },
      },
    });
  });
  afterAll(async () => {
    await server?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const run = async (query: string, variables = {}) => {
    const { data, errors } = await server.query(query, variables);
    if (errors) throw new Error(`${errors[0].extensions.code}: ${errors[0].message}`);
    return data;
  };
  const rest = async (method: string, path: string, body?: unknown) => {
    const { status, body: answer } = await server.call(method, path, { body });
    if (status >= 300) throw new Error(`${status}: ${JSON.stringify(answer)}`);
    return answer;
  };
  const mutate =
    (text: string, variables = {}) =>
    () =>
      run(`mutation { ${text} }`, variables);

  /** Ways to write, with the tickets that each row's hooks see before the row is written. */
  const CREATES: Readonly<Record<string, readonly [() => Promise<unknown>, readonly number[]]>> = {
    'a mutation': [mutate('createTicket(input: { text: "a" }) { id }'), [1]],
    REST: [() => rest('POST', '/api/tickets', { text: 'a' }), [1]],
    'a nested create': [
      mutate(
        'createBox(input: { name: "b", tickets: { create: [{ text: "a" }, { text: "c" }] } }) { id }',
      ),
      [1, 2],
    ],
    'a nested connectOrCreate': [
      mutate(
        'createBox(input: { name: "b", tickets: { connectOrCreate: [{ where: { text: "a" }, create: { text: "a" } }] } }) { id }',
      ),
      [1],
    ],
    'an upsert': [
      mutate('upsertTicket(text: "a", create: { text: "a" }, update: { text: "c" }) { id }'),
      [1],
    ],
    many: [mutate('createTickets(input: [{ text: "a" }, { text: "c" }]) { id }'), [1, 2]],
    'many without duplicates': [
      mutate('createTickets(input: [{ text: "a" }, { text: "c" }], skipDuplicates: true) { id }'),
      [1, 2],
    ],
    'ctx.data': [mutate('byData(text: "a")'), [1]],
    'ctx.data side by side, with a loader': [mutate('together(text: "a")'), [1, 2]],
    'ctx.transaction': [mutate('within(text: "a")'), [1]],
    seeds: [
      async () => {
        const values = { text: 'a' };
        const report = await seedRows([{ type: 'Ticket', key: 'a', values }], { kernel });
        if (report.findings.length > 0) throw new Error(report.findings[0]!.message);
      },
      [1],
    ],
  };
  const CHANGES: typeof CREATES = {
    'a mutation': [mutate('updateTicket(id: 1001, input: { text: "a" }) { id }'), [1]],
    REST: [() => rest('PATCH', '/api/tickets/1001', { text: 'a' }), [1]],
    'a nested update': [
      mutate(
        'updateBox(id: 1001, input: { name: "b", tickets: { update: [{ where: { id: 1001 }, data: { text: "a" } }] } }) { id }',
      ),
      [1],
    ],
    'a connect': [
      mutate('createBox(input: { name: "b", tickets: { connect: [{ id: 1001 }] } }) { id }'),
      [1],
    ],
    'an upsert': [
      mutate('upsertTicket(text: "first", create: { text: "a" }, update: { text: "c" }) { id }'),
      [1],
    ],
    many: [mutate('updateTickets(where: { text: { eq: "first" } }, input: { text: "a" })'), [1]],
  };
  const REMOVALS: typeof CREATES = {
    'a mutation': [mutate('deleteTicket(id: 1001) { id }'), [1]],
    REST: [() => rest('DELETE', '/api/tickets/1001'), [1]],
    'a nested delete': [
      mutate(
        'updateBox(id: 1001, input: { name: "b", tickets: { delete: [{ id: 1001 }] } }) { id }',
      ),
      [1],
    ],
    many: [mutate('deleteTickets(where: { text: { eq: "first" } })'), [1]],
  };

  /** One ticket in one box. */
  async function reset() {
    const { db } = server.store;
    [hook, handles, fails, seen] = ['', [], false, {}];
    for (const table of ['tickets', 'boxes']) await db.deleteFrom(table).execute();
    await db.insertInto('boxes').values({ id: 1001, name: 'box' }).execute();
    await db.insertInto('tickets').values({ id: 1001, text: 'first', box_id: 1001 }).execute();
  }
  beforeEach(reset);

  const stored = async () => {
    const rows = await server.store.db
      .selectFrom('tickets')
      .select('text')
      .orderBy('text')
      .execute();
    const boxes = await server.store.db
      .selectFrom('boxes')
      .select('name')
      .orderBy('name')
      .execute();
    return [...rows.map(({ text }) => text), ...boxes.map(({ name }) => name)];
  };

  /** Writes while one hook uses these handles. @returns what it saw by each of them */
  async function seenBy(name: string, by: readonly string[], write: () => Promise<unknown>) {
    await reset();
    [hook, handles] = [name, by];
    const error = await write().then(() => undefined, String);
    const last = by.at(-1)!;
    if (name === 'afterCommit') await expect.poll(() => seen[last]?.length).toBeGreaterThan(0);
    return error ?? seen;
  }

  /** What every hook sees by every handle, and what is left after a late failure. */
  async function table(write: () => Promise<unknown>) {
    const found: Record<string, unknown> = {};
    const all = Object.keys(HANDLES);
    for (const name of HOOKS) found[name] = await seenBy(name, all, write);
    // The first statement of a hook may be the first one of its transaction.
    for (const by of all) found[`resolveInput ${by}`] = await seenBy('resolveInput', [by], write);
    await reset();
    [hook, handles, fails] = ['validate', all, true];
    const error = await write().then(() => undefined, String);
    found['fails'] = /too late/.test(error ?? '') ? await stored() : error;
    return found;
  }

  function expected(before: readonly number[], change: number) {
    const after = before.map((count) => count + change);
    const all = Object.keys(HANDLES);
    const ofHook = (name: string, by: readonly string[] = all) => {
      const counts = BEFORE.has(name) ? before : after;
      const last = name === 'afterCommit' ? before.map(() => after.at(-1)) : counts;
      // A delete has no input to complete.
      if (name === 'resolveInput' && change < 0) return {};
      return Object.fromEntries(by.map((each) => [each, last]));
    };
    return {
      ...Object.fromEntries(HOOKS.map((name) => [name, ofHook(name)])),
      ...Object.fromEntries(all.map((by) => [`resolveInput ${by}`, ofHook('resolveInput', [by])])),
      fails: ['first', 'box'],
    };
  }

  it('sees the transaction of a create that is one statement', async () => {
    await server.store.db.deleteFrom('notes').execute();
    await server.store.db.insertInto('notes').values({ id: 1001, text: 'first' }).execute();
    const all = Object.keys(HANDLES);
    const found: Record<string, number> = {};
    for (const [index, handle] of all.entries()) {
      handles = [handle];
      const call = [
        async () => (await run('mutation { createNote(text: "a") { seen } }')).createNote.seen,
        async () => (await run('mutation { note(text: "a") }')).note,
        async () => (await rest('POST', '/api/notes', { text: 'a' })).seen,
      ];
      for (const each of call)
        found[`${handle} ${call.indexOf(each)}`] = await each().catch(String);
      for (const path of [0, 1, 2]) found[`${handle} ${path}`]! -= 3 * index;
    }
    expect(found).toEqual(
      Object.fromEntries(all.flatMap((by) => [0, 1, 2].map((path) => [`${by} ${path}`, path + 1]))),
    );
  });
  it.each(Object.keys(CREATES))('sees the transaction of a create by %s', async (path) => {
    const [write, before] = CREATES[path]!;
    expect(await table(write)).toEqual(expected(before, 1));
  });
  it.each(Object.keys(CHANGES))('sees the transaction of an update by %s', async (path) => {
    const [write, before] = CHANGES[path]!;
    expect(await table(write)).toEqual(expected(before, 0));
  });
  it.each(Object.keys(REMOVALS))('sees the transaction of a delete by %s', async (path) => {
    const [write, before] = REMOVALS[path]!;
    expect(await table(write)).toEqual(expected(before, -1));
  });
});
