import { afterEach, describe, expect, it } from 'vitest';
import { databases, startServer, type TestServer } from './harness.ts';
import { createRandom, type Random } from './random-schema.ts';

/** Another one: PAGES_SEED=2 npx vitest run test/graphql/nullable-pages.test.ts */
const SEED = Number(process.env['PAGES_SEED'] ?? 1);

let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

/** Values of each scalar that can be ordered, from the lowest to the highest. */
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  Int: [-5, 0, 7],
  Float: [-0.1, 0.1, 1e21],
  String: ['', 'a', 'b"\\'],
  Boolean: [false, true],
  Color: ['BLUE', 'GREEN', 'RED'],
  DateTime: ['1969-12-31T23:59:59.999Z', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.001Z'],
  Date: ['0001-01-01', '1999-12-31', '2026-02-28'],
  LocalTime: ['00:00:00', '09:30:00', '23:59:59'],
  BigInt: ['-9223372036854775808', '9007199254740993', '9223372036854775807'],
  Long: [-1, 0, 9007199254740991],
  Decimal: ['-10.5', '9', '10'],
  UUID: ['00000000-0000-7000-8000-000000000000', '11111111-1111-4111-8111-111111111111'],
  PositiveInt: [1, 2, 30],
  Latitude: [-90, 0.5, 90],
  EmailAddress: ['a@x.test', 'b@x.test'],
};

const names = Object.keys(VALUES);
const field = (name: string) => `v${name}`;
const CUSTOM = names.filter(
  (name) => !['Int', 'Float', 'String', 'Boolean', 'Color'].includes(name),
);

const SDL = `
  ${CUSTOM.map((name) => `scalar ${name}`).join('\n')}
  enum Color { RED GREEN BLUE }
  enum Direction { ASC DESC }
  type Item { id: ID! ${names.map((name) => `${field(name)}: ${name}`).join(' ')} }
  type ItemEdge { node: Item! cursor: String! }
  type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
  type ItemConnection { edges: [ItemEdge!]! pageInfo: PageInfo! totalCount: Int! }
  input ItemOrder { ${names.map((name) => `${field(name)}: Direction`).join(' ')} id: Direction }
  input ItemInput { ${names.map((name) => `${field(name)}: ${name}`).join(' ')} }
  type Query { items(orderBy: [ItemOrder!], first: Int, after: String, last: Int, before: String): ItemConnection! }
  type Mutation { createItem(input: ItemInput!): Item! }
`;

/** Which value each row has, by its place among the values; nothing for null. */
const ROWS = [1, null, 0, null, 1, 0, null] as const;

const valueOf = (name: string, row: number) => {
  const place = ROWS[row];
  return place === null || place === undefined
    ? null
    : VALUES[name]![place === 1 ? VALUES[name]!.length - 1 : 0];
};

async function fill(made: TestServer): Promise<void> {
  for (let row = 0; row < ROWS.length; row += 1) {
    const input = Object.fromEntries(names.map((name) => [field(name), valueOf(name, row)]));
    const { errors } = await made.query(
      'mutation ($input: ItemInput!) { createItem(input: $input) { id } }',
      { input },
    );
    expect(errors).toBeUndefined();
  }
}

/** Null is the highest value; rows of one value are in the order of their keys. */
function expected(descending: boolean): string[] {
  const rank = (row: number) => ROWS[row] ?? 2;
  return ROWS.map((_, row) => row)
    .sort((a, b) => (descending ? rank(b) - rank(a) : rank(a) - rank(b)) || a - b)
    .map((row) => String(row + 1));
}

async function walk(made: TestServer, orderBy: object, size: 'first' | 'last', count: number) {
  const side = size === 'first' ? 'after' : 'before';
  const met: string[] = [];
  let cursor: string | null = null;
  for (let page = 0; page <= ROWS.length; page += 1) {
    const { data, errors }: any = await made.query(
      `query ($orderBy: [ItemOrder!], $cursor: String) { items(${size}: ${count}, ${side}: $cursor, orderBy: $orderBy) { edges { node { id } } totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`,
      { orderBy, cursor },
    );
    expect(errors).toBeUndefined();
    const { edges, pageInfo, totalCount } = data.items;
    expect(totalCount).toBe(ROWS.length);
    met.splice(size === 'first' ? met.length : 0, 0, ...edges.map(({ node }: any) => node.id));
    cursor = size === 'first' ? pageInfo.endCursor : pageInfo.startCursor;
    if (!(size === 'first' ? pageInfo.hasNextPage : pageInfo.hasPreviousPage)) return met;
  }
  return met;
}

interface Walking {
  readonly orderBy: object;
  readonly size: 'first' | 'last';
  readonly random: Random;
}

/** Before each page a row is added, and one that was added before may be removed. */
async function walkAmongWrites(made: TestServer, { orderBy, size, random }: Walking) {
  const side = size === 'first' ? 'after' : 'before';
  const met: string[] = [];
  let cursor: string | null = null;
  await made.store.query(`delete from items where id > ${ROWS.length}`, []);
  for (let page = 0; page < 40; page += 1) {
    const values = names.map((name) => [
      field(name),
      random.chance(0.3) ? null : random.pick(VALUES[name]!),
    ]);
    await made.query('mutation ($input: ItemInput!) { createItem(input: $input) { id } }', {
      input: Object.fromEntries(values),
    });
    if (random.chance(0.7))
      await made.store.query(
        `delete from items where id = (select ${random.pick(['min', 'max'])}(id) from items where id > ${ROWS.length})`,
        [],
      );
    const { data, errors }: any = await made.query(
      `query ($orderBy: [ItemOrder!], $cursor: String) { items(${size}: 3, ${side}: $cursor, orderBy: $orderBy) { edges { node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`,
      { orderBy, cursor },
    );
    expect(errors).toBeUndefined();
    const { edges, pageInfo } = data.items;
    met.push(...edges.map(({ node }: any) => node.id));
    cursor = size === 'first' ? pageInfo.endCursor : pageInfo.startCursor;
    if (!(size === 'first' ? pageInfo.hasNextPage : pageInfo.hasPreviousPage)) return met;
  }
  return met;
}

describe.each(databases)('pages over a field that may be null, on %s', (database) => {
  it(
    'have each row once and leave none out, of any scalar, in both directions',
    { timeout: 60_000 },
    async () => {
      server = await startServer(SDL, { database });
      await fill(server);
      for (const name of names)
        for (const direction of ['ASC', 'DESC'])
          for (const count of [2]) {
            const orderBy = [{ [field(name)]: direction }];
            const rows = expected(direction === 'DESC');
            const forwards = await walk(server, orderBy, 'first', count);
            expect([name, direction, count, 'first', forwards]).toEqual([
              name,
              direction,
              count,
              'first',
              rows,
            ]);
            const backwards = await walk(server, orderBy, 'last', count);
            expect([name, direction, count, 'last', backwards]).toEqual([
              name,
              direction,
              count,
              'last',
              rows,
            ]);
          }
    },
  );

  it('have each row once when own SQL stored times to the microsecond', async () => {
    server = await startServer(SDL, { database });
    const values = ROWS.map((_, row) => ({
      v_date_time: row % 2 ? null : `2026-01-01T00:00:00.00000${row}Z`,
    }));
    await server.store.db.insertInto('items').values(values).execute();
    const rows = ['1', '3', '5', '7', '2', '4', '6'];
    expect(await walk(server, [{ vDateTime: 'ASC' }], 'first', 1)).toEqual(rows);
    expect(await walk(server, [{ vDateTime: 'ASC' }], 'last', 2)).toEqual(rows);
  });

  it('have each row once over two such fields', { timeout: 60_000 }, async () => {
    server = await startServer(SDL, { database });
    await fill(server);
    for (const [one, two] of [
      ['Int', 'String'],
      ['DateTime', 'Decimal'],
      ['Boolean', 'BigInt'],
    ])
      for (const directions of [
        ['ASC', 'DESC'],
        ['DESC', 'ASC'],
        ['DESC', 'DESC'],
      ]) {
        const orderBy = [{ [field(one!)]: directions[0] }, { [field(two!)]: directions[1] }];
        const rows = expected(directions[0] === 'DESC');
        expect(await walk(server, orderBy, 'first', 2)).toEqual(rows);
        expect(await walk(server, orderBy, 'last', 2)).toEqual(rows);
      }
  });

  it(
    'acceptance 8: show every row that stays once, and no row twice, while others come and go',
    { timeout: 120_000 },
    async () => {
      const made = (server = await startServer(SDL, { database }));
      await fill(made);
      const random = createRandom(SEED);
      for (const name of names)
        for (const size of ['first', 'last'] as const) {
          const orderBy = [{ [field(name)]: random.pick(['ASC', 'DESC']) }];
          const met = await walkAmongWrites(made, { orderBy, size, random });
          const stay = met.filter((id) => Number(id) <= ROWS.length);
          expect([name, orderBy, size, new Set(met).size]).toEqual([
            name,
            orderBy,
            size,
            met.length,
          ]);
          expect([name, orderBy, size, stay.sort()]).toEqual([
            name,
            orderBy,
            size,
            ROWS.map((_, row) => String(row + 1)).sort(),
          ]);
        }
    },
  );
});
