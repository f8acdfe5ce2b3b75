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
    expect(sdl.content[0].text).toContain('lines: [Line!]!');
    const wrong = await call('validate', { operation: '{ orders { totl } }' });
    expect(wrong.structuredContent).toMatchObject({ valid: false });
    const done = await call('execute', { operation: '{ orders { total note } }' });
    expect(done.structuredContent).toEqual({ orders: [{ total: 3, note: 'first' }] });
    expect(JSON.parse(done.content[0].text)).toEqual(done.structuredContent);
    expect(done._meta).toMatchObject({ 'twofold/untrusted': true });
  });
});
