import { serverAudits } from 'graphql-http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer, type TestServer } from './harness.ts';

let server: TestServer;
beforeAll(async () => void (server = await startServer('type Note { id: ID! text: String! } type Query { notes: [Note!]! note(id: ID!): Note } type Mutation { createNote(text: String!): Note! }')));
afterAll(() => server.close());

describe('the endpoint by the audits of graphql-http', () => {
  for (const audit of serverAudits({ url: () => `${server.url}/graphql` })) {
    it(`${audit.id} ${audit.name}`, async () => {
      expect(await audit.fn()).toMatchObject({ status: 'ok' });
    });
  }
});
