import { createServer } from '@twofold/runtime';
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { app } from '../src/generated/app.ts';

const server = createServer(app);
let url = '';

// A fresh clone has no .env: the test invents the settings that the server needs, or will need.
const env = {
  DATABASE_URL: ':memory:',
  LOG_LEVEL: 'silent',
  JWT_SECRET: randomBytes(32).toString('hex'),
  HOST_PASSWORD: randomBytes(32).toString('hex'),
};

before(async () => {
  const running = await server.start('127.0.0.1:0', { env: { ...process.env, ...env } });
  url = running.url;
});

after(() => server.close());

test('the server is healthy', async () => {
  const response = await fetch(new URL('/api/health', url));
  assert.equal(response.status, 200);
});

test('GraphQL answers', async () => {
  const response = await fetch(new URL('/graphql', url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ __typename }' }),
  });
  assert.deepEqual(await response.json(), { data: { __typename: 'Query' } });
});
