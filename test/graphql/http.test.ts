import { connect } from 'node:net';
import { serverAudits } from 'graphql-http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer, type TestServer } from './harness.ts';

let server: TestServer;
beforeAll(
  async () =>
    void (server = await startServer(
      'type Note { id: ID! text: String! } type Query { notes: [Note!]! note(id: ID!): Note } type Mutation { createNote(text: String!): Note! }',
    )),
);
afterAll(() => server.close());

it('reads the query of an address that is odd elsewhere', async () => {
  const { hostname, port } = new URL(server.url);
  const status = await new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () =>
      socket.write(
        'GET /graphql?query={__typename} HTTP/1.1\r\nhost: a b[\r\nconnection: close\r\n\r\n',
      ),
    );
    let text = '';
    socket
      .on('data', (chunk) => void (text += chunk))
      .on('error', reject)
      .on('close', () =>
        resolve([
          /^HTTP\/1.1 (\d+)/.exec(text)?.[1],
          text.includes('{"data":{"__typename":"Query"}}'),
        ]),
      );
  });
  expect(status).toEqual(['200', true]);
  expect(server.lines.filter((line) => JSON.parse(line).level >= 50)).toEqual([]);
});

describe('the endpoint by the audits of graphql-http', () => {
  for (const audit of serverAudits({ url: () => `${server.url}/graphql` })) {
    it(`${audit.id} ${audit.name}`, async () => {
      expect(await audit.fn()).toMatchObject({ status: 'ok' });
    });
  }
});
