import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ScalarMapping } from '../../runtime/core/plugin.ts';
import { createJobs, type JobsModule } from '../../runtime/core/jobs/index.ts';
import type { JobOf } from '../../runtime/core/jobs/types.ts';
import { createRest } from '../../runtime/core/rest/index.ts';
import { systemContext } from '../../runtime/core/own-context/system-context.ts';
import { migrate } from '../../runtime/database/migrations/migrate.ts';
import { clientOf } from '../client/server.ts';
import { databases, startServer, type TestServer } from '../graphql/harness.ts';

const RUNS = Number(process.env['ROUND_TRIP_RUNS'] ?? 3);
const SEED = Number(process.env['ROUND_TRIP_SEED'] ?? Date.now() % 2 ** 31);

const FIELDS = `
  money: Money opened: Opened point: Point code: Code share: Share
  moneys: [Money!] openeds: [Opened!] points: [Point!] codes: [Code!] shares: [Share!]
  dateTime: DateTime timestamp: Timestamp date: Date time: Time big: BigInt long: Long decimal: Decimal uuid: UUID
  byte: Byte json: JSON object: JSONObject email: EmailAddress int: Int float: Float text: String yes: Boolean color: Color
  dateTimes: [DateTime!] timestamps: [Timestamp!] dates: [Date!] bigs: [BigInt!] longs: [Long!] decimals: [Decimal!] uuids: [UUID!]
  bytes: [Byte!] jsons: [JSON!] ints: [Int!] floats: [Float!] texts: [String!] yess: [Boolean!] colors: [Color!]
`;
const NAMES = [...FIELDS.matchAll(/(\w+):/g)].map(([, name]) => name!);
/** Values that a list can be ordered by. */
const ORDERED = [...FIELDS.matchAll(/(\w+): (\w+)/g)].flatMap(([, name, type]) =>
  ['Point', 'JSON', 'JSONObject', 'Byte'].includes(type!) ? [] : [name!],
);

const SDL = `
  scalar Money scalar Opened scalar Point scalar Code scalar Share
  scalar DateTime scalar Timestamp scalar Date scalar Time scalar BigInt scalar Long scalar Decimal scalar UUID
  scalar Byte scalar JSON scalar JSONObject scalar EmailAddress
  enum Color { RED GREEN }
  type Spot { money: Money opened: Opened at: DateTime big: BigInt }
  input SpotInput { money: Money opened: Opened at: DateTime big: BigInt }
  type Item { id: ID! key: Money! @unique ${FIELDS} spot: Spot box: Box }
  type Box { id: ID! name: String! items: [Item!]! }
  input NewItem { key: Money! ${FIELDS} spot: SpotInput }
  enum Direction { ASC DESC }
  input ItemOrder { ${ORDERED.map((name) => `${name}: Direction`).join(' ')} }
  type ItemConnection { edges: [ItemEdge!]! pageInfo: PageInfo! }
  type ItemEdge { node: Item! cursor: String! }
  type PageInfo { hasNextPage: Boolean! endCursor: String }
  type Query {
    items(money: Money): [Item!]! item(id: ID!): Item boxes: [Box!]!
    pages(orderBy: [ItemOrder!], first: Int, after: String): ItemConnection! @resolve(as: LIST)
  }
  type Mutation {
    createItem(input: NewItem!): Item!
    passOn(input: NewItem!): Item!
  }
`;

/** Own scalars whose values look different outside, and that refuse what they have parsed. */
const scalars: Record<string, ScalarMapping> = {
  Money: {
    type: 'integer',
    serialize: (cents: number) => (cents / 100).toFixed(2),
    parseValue: (value) => Math.round(Number(value) * 100),
  },
  Opened: {
    type: 'timestamp',
    serialize: (at: string) => `at ${new Date(at).getTime()}`,
    parseValue: (value) => new Date(Number(/^at (-?\d+)$/.exec(String(value))![1])),
  },
  Point: {
    type: 'json',
    serialize: ({ x, y }: any) => `${x},${y}`,
    parseValue: (value) => {
      const [x, y] = (value as string).split(',').map(Number);
      return { x, y };
    },
  },
  Code: {
    type: 'text',
    serialize: (code: string) => `#${code}`,
    parseValue: (value) => /^#(.*)$/s.exec(value as string)![1],
  },
  Share: {
    type: 'real',
    serialize: (share: number) => share * 128,
    parseValue: (value) => (value as number) / 128,
  },
};

const int32 = fc.integer({ min: -(2 ** 31) + 1, max: 2 ** 31 - 1 });
const cents = fc.integer({ min: -99_999_999, max: 99_999_999 });
const money = cents.map((each) => (each / 100).toFixed(2));
const at = fc.date({
  min: new Date('1900-01-01'),
  max: new Date('2100-01-01'),
  noInvalidDate: true,
});
const opened = at.map((each) => `at ${each.getTime()}`);
const dateTime = at.map((each) => each.toISOString());
const digits = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const text = fc.string({ unit: fc.constantFrom('a', 'B', '1', '"', '\\', 'ü', ' ', '%', '🙂') });
const point = fc.tuple(int32, int32).map((pair) => pair.join());
const code = text.map((each) => `#${each}`);
const share = int32.map((each) => each / 4);
const big = digits.map(String);
const decimal = fc
  .tuple(digits, fc.integer({ min: 1, max: 999 }))
  .map(([whole, part]) => `${whole}.${part}1`);
const uuid = fc.uuid({ version: 7 });
const byte = fc.uint8Array({ maxLength: 20 }).map((each) => Buffer.from(each).toString('base64'));
const plain = fc.oneof(
  int32,
  text,
  fc.boolean(),
  fc.array(int32),
  fc.dictionary(fc.constantFrom('a', 'b'), text),
);
const color = fc.constantFrom('RED', 'GREEN');
const some = <T>(each: fc.Arbitrary<T>) => fc.array(each, { minLength: 1, maxLength: 3 });

/** An item as a caller sends it. */
const GIVEN = {
  money,
  opened,
  point,
  code,
  share,
  moneys: some(money),
  openeds: some(opened),
  points: some(point),
  codes: some(code),
  shares: some(share),
  dateTime,
  timestamp: at.map((each) => each.getTime()),
  date: dateTime.map((each) => each.slice(0, 10)),
  time: at.map((each) => each.toISOString().slice(11, 19)),
  big,
  long: fc.maxSafeInteger(),
  decimal,
  uuid,
  byte,
  json: plain,
  object: fc.dictionary(fc.constantFrom('a', 'b'), plain),
  email: fc.constantFrom('a@example.com', 'b.c@example.org'),
  int: int32,
  float: share,
  text,
  yes: fc.boolean(),
  color,
  dateTimes: some(dateTime),
  timestamps: some(at.map((each) => each.getTime())),
  dates: some(dateTime.map((each) => each.slice(0, 10))),
  bigs: some(big),
  longs: some(fc.maxSafeInteger()),
  decimals: some(decimal),
  uuids: some(uuid),
  bytes: some(byte),
  jsons: some(plain),
  ints: some(int32),
  floats: some(share),
  texts: some(text),
  yess: some(fc.boolean()),
  colors: some(color),
  spot: fc.record({ money, opened, at: dateTime, big }),
} as Record<string, fc.Arbitrary<unknown>>;
const given = fc.record(
  Object.fromEntries(
    Object.entries(GIVEN).map(([name, each]) => [name, fc.option(each, { nil: null, freq: 8 })]),
  ),
);

const SELECTED = `{ key ${NAMES.join(' ')} spot { money opened at big } }`;

const DOCUMENTS = `
  query Item($id: ID!) { item(id: $id) ${SELECTED} }
  mutation Add($input: NewItem!) { createItem(input: $input) { id } }
`;

/** The client that a front end has of this schema, as a run writes it. */
async function loadClient(folder: string): Promise<any> {
  const sdl = SDL.replace(/@unique|@resolve\(as: LIST\)/g, '');
  for (const [name, text] of Object.entries(clientOf({}, { sdl, documents: DOCUMENTS })))
    writeFileSync(join(folder, name), text);
  return import(/* @vite-ignore */ pathToFileURL(join(folder, 'index.ts')).href);
}

describe.each(databases)('a value of own code, on %s', (database) => {
  let server: TestServer;
  let ctx: any;
  let keys = 0;
  let hooked: Record<string, any> | undefined;
  let seen: Record<string, any>[] = [];
  let jobs: JobsModule;
  let copied: unknown;
  let front: any;
  let firstId: unknown;
  let api: any;
  const folder = mkdtempSync(join(tmpdir(), 'round-trip-'));

  beforeAll(async () => {
    server = await startServer(SDL, {
      database,
      scalars,
      manifest: 'name: values\napi: { rest: true, limits: { list: 1000 } }\n',
      also: (kernel, { inputs, service: { engine } }) => {
        const copy: JobOf<any> = {
          input: 'NewItem',
          run: async ({ data, ctx: own }) => {
            copied = (await own.data.item.create({ data })).id;
          },
        };
        const files = { copy };
        jobs = createJobs({ kernel, files, inputs: inputs!, mode: 'off', guarded: false });
        return createRest({ kernel, engine });
      },
      entityHooks: {
        Item: {
          resolveInput: { create: () => hooked },
          afterOperation: { create: ({ item }) => void seen.push(item) },
        },
      },
      resolvers: {
        Mutation: {
          passOn: (_parent: unknown, { input }: any, { data }: any) =>
            data.item.create({ data: input }),
        },
      },
    });
    await migrate(server.store, jobs.migrations!);
    ctx = systemContext({ store: server.store, log: { child: () => ({}) } as never });
    front = await loadClient(folder);
    api = front.createClient({ url: server.url, fetch: server.fetch });
  });
  afterAll(async () => {
    await server?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** A key that no item has, in the form of own code. */
  const nextKey = () => (keys += 125);
  const outside = async (id: unknown) =>
    without((await asked(`query ($id: ID!) { item(id: $id) ${SELECTED} }`, { id })).item);
  async function asked(query: string, variables: object) {
    const { data, errors } = await server.query(query, variables as never);
    if (errors) throw new Error(JSON.stringify(errors[0]));
    return data;
  }
  const sent = async (field: string, input: object) =>
    (await asked(`mutation ($input: NewItem!) { ${field}(input: $input) { id } }`, { input }))[
      field
    ].id;

  /** Ways in which own code writes what it has read. Each gives the id of a new row. */
  const WRITES: Record<string, (row: Record<string, any>, input: object) => Promise<unknown>> = {
    'ctx.data.create': async (row) => (await ctx.data.item.create({ data: row })).id,
    'ctx.sudo()': async (row) => (await ctx.sudo().data.item.create({ data: row })).id,
    createMany: async (row) => (await ctx.data.item.createMany({ data: [row] }))[0].id,
    update: async (row) => {
      const { id } = await ctx.data.item.create({ data: { key: nextKey() } });
      return (await ctx.data.item.update({ where: { id }, data: row })).id;
    },
    'update by a unique key': async (row) => {
      const { key } = await ctx.data.item.create({ data: { key: nextKey() } });
      return (await ctx.data.item.update({ where: { key }, data: { ...row, key } })).id;
    },
    updateMany: async (row) => {
      const { id, key } = await ctx.data.item.create({ data: { key: nextKey() } });
      expect(await ctx.data.item.updateMany({ where: { key }, data: { ...row, key } })).toBe(1);
      return id;
    },
    'upsert of a new row': async (row) =>
      (await ctx.data.item.upsert({ where: { key: row['key'] }, create: row, update: {} })).id,
    'upsert of a row': async (row) => {
      const { key } = await ctx.data.item.create({ data: { key: nextKey() } });
      return (await ctx.data.item.upsert({ where: { key }, create: {}, update: { ...row, key } }))
        .id;
    },
    'a nested create': async (row) => {
      const { id } = await ctx.data.box.create({ data: { name: 'b', items: { create: [row] } } });
      return (await ctx.data.item.findFirst({ where: { boxId: id } })).id;
    },
    'a nested connectOrCreate': async (row) => {
      const items = { connectOrCreate: [{ where: { key: row['key'] }, create: row }] };
      const { id } = await ctx.data.box.create({ data: { name: 'b', items } });
      return (await ctx.data.item.findFirst({ where: { box: { id } } })).id;
    },
    'an argument that a resolver passes on': (_row, input) => sent('passOn', input),
    REST: async (_row, input) => {
      const { status, body } = await server.call('POST', '/api/items', { body: input });
      expect([status, body.error]).toEqual([201, undefined]);
      return body.id ?? body.data.id;
    },
    'the client': async (_row, input) =>
      (await api.request(front.AddDocument, { input })).createItem.id,
    'the client, of what it has read': async (_row, input) => {
      const { id: _id, ...read } = (await api.request(front.ItemDocument, { id: firstId })).item;
      const next = { ...read, key: (input as { key: string }).key };
      return (await api.request(front.AddDocument, { input: next })).createItem.id;
    },
    'a job': async (row) => {
      await jobs.runHere(await ctx.jobs.send('copy', row), true);
      return copied;
    },
    'a job that a caller sends': async (_row, input) => {
      await jobs.runHere(await jobs.api.send('copy', input), true);
      return copied;
    },
    'a hook of GraphQL': async (row) => {
      hooked = row;
      return sent('createItem', { key: '0.01' });
    },
    'a hook of REST': async (row) => {
      hooked = row;
      const { status, body } = await server.call('POST', '/api/items', { body: { key: '0.01' } });
      expect([status, body.error]).toEqual([201, undefined]);
      return body.id ?? body.data.id;
    },
  };

  const without = ({ id: _id, key: _key, boxId: _boxId, box: _box, ...values }: any) => values;
  const listed = (value: unknown) =>
    Array.isArray(value) ||
    (typeof value === 'object' && value !== null && !(value instanceof Uint8Array));

  it(
    'is written as it was read, and read as it was written, through every door',
    { timeout: 120_000 },
    async () => {
      await fc.assert(
        fc.asyncProperty(given, async (values) => {
          const key = nextKey();
          const id = await sent('createItem', { ...values, key: (key / 100).toFixed(2) });
          firstId = id;
          const row = await ctx.data.item.findUnique({ where: { id } });
          const shown = await outside(id);
          expect(row.key).toBe(key);
          expect(row.id).toBe(id);
          const { body: byRest } = await server.call('GET', `/api/items/${id}`);
          for (const name of NAMES) expect([name, byRest[name]]).toEqual([name, shown[name]]);

          // Each reader has the same row.
          expect(without((await api.request(front.ItemDocument, { id })).item)).toEqual(shown);
          expect(await ctx.loaders.item.load(id)).toEqual(row);
          expect(without(seen.at(-1))).toEqual(without(row));
          const [stored] = await ctx.db
            .selectFrom('items')
            .selectAll()
            .where('id', '=', row.id)
            .execute();
          expect(without(stored)).toEqual(without(row));

          // Each value finds its row.
          for (const name of NAMES) {
            const value = row[name];
            if (
              value === null ||
              listed(value) ||
              value instanceof Uint8Array ||
              ['json', 'object'].includes(name)
            )
              continue;
            const found = await ctx.data.item.findMany({
              where: { [name]: value, id: { in: [row.id] } },
            });
            expect([name, found.length]).toEqual([name, 1]);
          }
          if (row.money !== null) {
            const { status, body } = await server.call('GET', `/api/items?money=${shown.money}`);
            expect([status, body.data.some((each: any) => String(each.id) === String(id))]).toEqual(
              [200, true],
            );
          }

          // Each writer leaves the same row.
          for (const [name, write] of Object.entries(WRITES)) {
            const next = nextKey();
            const written = await write(
              { ...without(row), key: next },
              { ...values, key: (next / 100).toFixed(2) },
            ).finally(() => (hooked = undefined));
            expect([
              name,
              without(await ctx.data.item.findUnique({ where: { id: written } })),
            ]).toEqual([name, without(row)]);
            expect([name, await outside(written)]).toEqual([name, shown]);
          }
        }),
        { numRuns: RUNS, seed: SEED },
      );

      // The cursor of each row leads to the next one, whatever the list is ordered by.
      const pages = `query ($orderBy: [ItemOrder!], $first: Int, $after: String) {
        pages(orderBy: $orderBy, first: $first, after: $after) {
          edges { node { id } } pageInfo { hasNextPage endCursor }
        }
      }`;
      for (const name of ORDERED)
        for (const direction of ['ASC', 'DESC']) {
          const read = async (first: number, after?: string) =>
            (await asked(pages, { orderBy: [{ [name]: direction }], first, after })).pages;
          const idsOf = ({ edges }: any) => edges.map(({ node }: any) => node.id);
          const found: unknown[] = [];
          for (let page = await read(7); ; page = await read(7, page.pageInfo.endCursor)) {
            found.push(...idsOf(page));
            if (!page.pageInfo.hasNextPage) break;
          }
          expect([name, direction, found]).toEqual([name, direction, idsOf(await read(1000))]);
        }
    },
  );
});
