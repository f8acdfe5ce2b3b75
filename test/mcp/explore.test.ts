import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestServer } from '../graphql/harness.ts';
import { connectMcp, ERAS, type McpClient, startMcp } from './server.ts';

const SDL = `
  """What a customer has bought."""
  type Order { id: ID! total: Int! note: String lines: [Line!]! }
  type Line { id: ID! order: Order! product: String! }
  type Query { orders(limit: Int): [Order!]! order(id: ID!): Order }
  type Mutation { createOrder(total: Int!, note: String): Order! }
`;
const MANIFEST = 'name: shop\napi: { mcp: { tools: explore }, access: public }\n';

let server: TestServer;
beforeAll(async () => {
  server = await startMcp(SDL, { manifest: MANIFEST });
  await server.query('mutation { createOrder(total: 3, note: "first") { id } }');
});
afterAll(() => server.close());

describe.each(ERAS)('tools that explore an API, revision %s', (era) => {
  let client: McpClient;
  beforeAll(async () => {
    client = await connectMcp(`${server.url}/mcp`, era);
  });
  afterAll(() => client.close());

  const call = (name: string, args: Record<string, unknown>) =>
    client.callTool({ name, arguments: args });

  it('are four', async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['execute', 'introspect', 'search', 'validate']);
  });

  it('find, describe, check and run', async () => {
    const found = await call('search', { query: 'customer orders', limit: 2 });
    expect(found.structuredContent.results[0]).toMatchObject({ coordinate: 'Order' });
    expect(found.structuredContent.results).toHaveLength(2);
    const sdl = await call('introspect', { type: 'Order' });
    expect(sdl.content[0].text).toContain('lines(limit: Int, offset: Int): [Line!]!');
    const wrong = await call('validate', { operation: '{ orders { totl } }' });
    expect(wrong.structuredContent).toMatchObject({ valid: false });
    const done = await call('execute', { operation: '{ orders { total note } }' });
    expect(done.structuredContent).toEqual({ orders: [{ total: 3, note: 'first' }] });
    expect(JSON.parse(done.content[0].text)).toEqual(done.structuredContent);
    expect(done._meta).toMatchObject({ 'twofold/untrusted': true });
  });
});

it('explore refuses a result that is larger than api.mcp.result, with its code and both figures', async () => {
  const small = await startMcp(SDL, {
    manifest: 'name: shop\napi: { mcp: { tools: explore, result: 60B }, access: public }\n',
  });
  const client = await connectMcp(`${small.url}/mcp`, ERAS[0]);
  try {
    for (const [name, args] of [
      ['introspect', { type: 'Order' }],
      ['search', { query: 'orders of a customer' }],
      ['validate', { operation: '{ orders { one two three four five } }' }],
    ] as const) {
      const { isError, content } = await client.callTool({ name, arguments: args });
      const { code, value, limit } = JSON.parse(content[0].text).errors[0].extensions;
      expect([name, isError, code, limit]).toEqual([name, true, 'RESULT_TOO_LARGE', 60]);
      expect(value).toBeGreaterThan(60);
    }
  } finally {
    await client.close();
    await small.close();
  }
});
