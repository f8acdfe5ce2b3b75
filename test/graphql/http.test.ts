import { connect } from 'node:net';
import { serverAudits } from 'graphql-http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createServer } from '../../runtime/core/server.ts';
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

describe('the media type of an answer', () => {
  it.each([
    ['*/*', 200, 'application/json'],
    ['application/json;q=0, */*', 200, 'application/graphql-response+json'],
    ['*/*, application/json;q=0', 200, 'application/graphql-response+json'],
    ['application/*;q=0.5, application/json;q=0', 200, 'application/graphql-response+json'],
    ['application/json;q=0, application/graphql-response+json;q=0, */*', 406, 'application/json'],
    ['application/json;q=0', 406, 'application/json'],
  ])('for Accept: %s', async (accept, status, type) => {
    const { headers, ...answer } = await server.call('POST', '/graphql', {
      body: { query: '{ __typename }' },
      headers: { accept },
    });
    expect([answer.status, headers.get('content-type')]).toEqual([
      status,
      `${type}; charset=utf-8`,
    ]);
  });
});

describe('the headers of every answer', () => {
  it('are the same for data and refusals, with middleware and without', async () => {
    const plain = createServer().schema('type Query { hello: String }');
    const running = await plain.start('127.0.0.1:0', {
      env: { DATABASE_URL: ':memory:', LOG_LEVEL: 'silent' },
    });
    try {
      for (const url of [server.url, running.url])
        for (const init of [
          {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: '{"query":"{ __typename }"}',
          },
          { method: 'POST', headers: { 'content-type': 'text/plain' }, body: '' },
          { method: 'GET', headers: { accept: 'text/event-stream' } },
          { method: 'GET', headers: { accept: 'text/html' } },
          { method: 'PUT' },
        ]) {
          const { headers } = await fetch(`${url}/graphql`, init);
          expect(headers.get('x-content-type-options')).toBe('nosniff');
          expect(headers.get('strict-transport-security')).toBe(
            'max-age=31536000; includeSubDomains',
          );
          expect(headers.get('referrer-policy')).toBe('no-referrer');
          expect(headers.get('x-frame-options')).toBe('SAMEORIGIN');
        }
    } finally {
      await running.close();
    }
  });
});

describe('the endpoint by the audits of graphql-http', () => {
  for (const audit of serverAudits({ url: () => `${server.url}/graphql` })) {
    it(`${audit.id} ${audit.name}`, async () => {
      expect(await audit.fn()).toMatchObject({ status: 'ok' });
    });
  }
});
