import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestServer } from '../graphql/harness.ts';
import { connectMcp, ERAS, type McpClient, startMcp } from './server.ts';

const SDL = `
  enum Status { OPEN PAID }
  interface Node { id: ID! }
  type Order implements Node { id: ID! total: Int! status: Status! note: String lines(limit: Int): [Line!]! }
  type Line implements Node { id: ID! order: Order! product: String! }
  input OrderFilter { total: IntOps and: [OrderFilter!] }
  input IntOps { gt: Int eq: Int }
  input Which @oneOf { id: ID status: Status }
  input NewOrder { "What it costs." total: Int! @constraint(min: 1) note: String @constraint(maxLength: 20) status: Status! }
  type Query {
    "Orders, the newest last."
    orders(where: OrderFilter, limit: Int): [Order!]!
    order(id: ID!): Order
    found(which: Which!): Order
    node(id: ID!): Node
  }
  type Mutation {
    createOrder(input: NewOrder!): Order!
    updateOrder(id: ID!, note: String): Order
    deleteOrder(id: ID!): Boolean!
  }
  type Subscription { orderCreated: Order! }
`;
const DOCUMENTS = [
  '# What customers owe.\n# Newest last.\nquery Orders($where: OrderFilter, $limit: Int = 5) { orders(where: $where, limit: $limit) { ...Card lines { product } } } fragment Card on Order { id total sum: total status note }',
  'query One($id: ID!, $full: Boolean!) { order(id: $id) { id note @include(if: $full) } }',
  'query Orders { orders { id } }',
  'query Found($which: Which!) { found(which: $which) { id } }',
  'query Gone { nothing }',
  'subscription Created { orderCreated { id } }',
  '{ orders { id } }',
  'mutation Create($input: NewOrder!) { createOrder(input: $input) { id total } }',
  'mutation Change($id: ID!, $note: String) { updateOrder(id: $id, note: $note) { id } }',
  'mutation Delete($id: ID!) { deleteOrder(id: $id) }',
];

let root: string;
let server: TestServer;
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'mcp-'));
  writeFileSync(join(root, 'documents.json'), JSON.stringify(DOCUMENTS));
  server = await startMcp(SDL, {
    root,
    manifest:
      'name: shop\napi: { access: public, trusted_documents: { file: documents.json }, mcp: { tools: documents, writes: true, result: 2KiB } }\n',
  });
});
afterAll(async () => {
  await server.close();
  rmSync(root, { recursive: true });
});

describe.each(ERAS)('documents as tools, revision %s', (era) => {
  let client: McpClient;
  beforeAll(async () => {
    client = await connectMcp(`${server.url}/mcp`, era);
  });
  afterAll(() => client.close());
  const tools = async () =>
    new Map((await client.listTools()).tools.map((tool) => [tool.name, tool]));
  const call = (name: string, args: Record<string, unknown> = {}) =>
    client.callTool({ name, arguments: args });

  it('are those that are valid, by name, with the comment above them', async () => {
    const all = await tools();
    expect([...all.keys()]).toEqual(['Change', 'Create', 'Delete', 'Found', 'One', 'Orders']);
    expect(all.get('Orders').description).toBe('What customers owe.\nNewest last.');
    expect(all.get('One').description).toBe('The query of order');
  });

  it('have the schema of their variables, and of their data', async () => {
    const all = await tools();
    expect(all.get('Orders').inputSchema).toMatchObject({
      properties: {
        where: { anyOf: [{ $ref: '#/$defs/OrderFilter' }, { type: 'null' }] },
        limit: { type: ['integer', 'null'], default: 5 },
      },
      additionalProperties: false,
    });
    expect(all.get('Create').inputSchema).toMatchObject({
      required: ['input'],
      $defs: {
        NewOrder: {
          properties: {
            total: { type: 'integer', minimum: 1, description: 'What it costs.' },
            note: { maxLength: 20 },
            status: { enum: ['OPEN', 'PAID'] },
          },
          required: ['total', 'status'],
          additionalProperties: false,
        },
      },
    });
    expect(all.get('Found').inputSchema.$defs.Which).toMatchObject({
      minProperties: 1,
      maxProperties: 1,
      properties: { id: { type: ['string', 'integer'] }, status: { enum: ['OPEN', 'PAID'] } },
    });
    const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, validateFormats: false });
    for (const { inputSchema, outputSchema } of all.values())
      expect([ajv.compile(inputSchema), ajv.compile(outputSchema)]).toHaveLength(2);
  });

  it('have hints: what creates is not destructive, what deletes may be repeated', async () => {
    const hints = [...(await tools()).values()].map(({ name, annotations }) => [
      name,
      annotations.readOnlyHint,
      annotations.destructiveHint,
      annotations.idempotentHint,
      annotations.openWorldHint,
    ]);
    expect(hints).toEqual([
      ['Change', false, true, false, false],
      ['Create', false, false, false, false],
      ['Delete', false, true, true, false],
      ['Found', true, undefined, undefined, false],
      ['One', true, undefined, undefined, false],
      ['Orders', true, undefined, undefined, false],
    ]);
  });

  it('run, and the client accepts their data by the schema', async () => {
    const made = await call('Create', { input: { total: 3, status: 'OPEN' } });
    const { id } = made.structuredContent.createOrder;
    const { structuredContent } = await call('Orders', { where: { total: { eq: 3 } } });
    expect(structuredContent.orders).toContainEqual({
      id,
      total: 3,
      sum: 3,
      status: 'OPEN',
      note: null,
      lines: [],
    });
    expect((await call('One', { id, full: false })).structuredContent).toEqual({ order: { id } });
    expect((await call('Delete', { id })).structuredContent).toEqual({ deleteOrder: true });
  });

  it('refuse arguments by name, and rows over the limit with both figures', async () => {
    const refused = async (name: string, args: Record<string, unknown>) => {
      const { isError, content } = await call(name, args);
      return [isError, content[0].text];
    };
    expect(await refused('One', { id: 1, full: true, more: 1 })).toEqual([
      true,
      'One has no argument more',
    ]);
    expect((await refused('One', { id: 1, full: 'yes' }))[1]).toContain('$full');
    expect((await refused('Create', { input: { total: 0, status: 'OPEN' } }))[1]).toContain(
      'total',
    );
    const long = 'x'.repeat(20);
    for (let index = 0; index < 40; index++)
      await call('Create', { input: { total: 7, note: long, status: 'PAID' } });
    const [isError, text] = await refused('Orders', { where: { total: { eq: 7 } }, limit: 40 });
    expect([isError, JSON.parse(text).errors[0].extensions]).toEqual([
      true,
      { code: 'RESULT_TOO_LARGE', value: expect.any(Number), limit: 2048 },
    ]);
  });
});

it('only the documents that sources have are tools, and of two by one name the first', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'mcp-'));
  const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');
  const texts = [
    'query A { orders { id } }',
    'query B { orders { id } }',
    'query A { orders { total } }',
  ];
  const [first, , second] = texts.map(hashOf);
  writeFileSync(
    join(folder, 'documents.json'),
    JSON.stringify(Object.fromEntries(texts.map((text) => [hashOf(text), text]))),
  );
  const own = await startMcp(SDL, {
    root: folder,
    live: [
      { hash: second!, description: 'The newest.' },
      { hash: first! },
      { hash: '0'.repeat(64) },
    ],
    manifest:
      'name: shop\napi: { access: public, trusted_documents: {}, mcp: { tools: documents } }\n',
  });
  try {
    const client = await connectMcp(`${own.url}/mcp`, '2026-07-28');
    const { tools } = await client.listTools();
    expect(tools.map(({ name, description }) => [name, description])).toEqual([
      ['A', 'The newest.'],
    ]);
    expect(tools[0].outputSchema.properties.orders.items.required).toEqual(['total']);
    await client.close();
  } finally {
    await own.close();
    rmSync(folder, { recursive: true });
  }
});

it('have pages of 100, which a cursor continues', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'mcp-'));
  const texts = Array.from({ length: 230 }, (_, at) => `query Q${1000 + at} { orders { id } }`);
  writeFileSync(join(folder, 'documents.json'), JSON.stringify(texts));
  const own = await startMcp(SDL, {
    root: folder,
    manifest:
      'name: shop\napi: { access: public, trusted_documents: {}, mcp: { tools: documents } }\n',
  });
  try {
    const pages: string[][] = [];
    let cursor: string | undefined;
    do {
      const params = { ...(cursor !== undefined && { cursor }) };
      const body = { jsonrpc: '2.0', id: 1, method: 'tools/list', params };
      const { result } = (await own.call('POST', '/mcp', { body })).body;
      pages.push(result.tools.map(({ name }: { name: string }) => name));
      cursor = result.nextCursor;
    } while (cursor !== undefined);
    expect(pages.map(({ length }) => length)).toEqual([100, 100, 30]);
    expect(pages.flat()).toEqual(texts.map((text) => text.slice(6, 11)));
  } finally {
    await own.close();
    rmSync(folder, { recursive: true });
  }
});

it('a document with a mutation is no tool without api.mcp.writes', async () => {
  const reading = await startMcp(SDL, {
    root,
    manifest:
      'name: shop\napi: { access: public, trusted_documents: { file: documents.json }, mcp: { tools: documents } }\n',
  });
  const client = await connectMcp(`${reading.url}/mcp`, ERAS[0]);
  try {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['Found', 'One', 'Orders']);
    const input = { total: 1, status: 'OPEN' };
    await expect(client.callTool({ name: 'Create', arguments: { input } })).rejects.toMatchObject({
      code: -32602,
    });
    const orders = await client.callTool({ name: 'Orders', arguments: {} });
    expect(orders.structuredContent).toEqual({ orders: [] });
  } finally {
    await client.close();
    await reading.close();
  }
});
