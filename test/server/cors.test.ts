import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { auth } from '@twofold/auth';
import { createServer } from '../../runtime/core/server.ts';
import type { Running } from '../../runtime/core/running.ts';
import { projectOf } from '../graphql/harness.ts';

const SDL =
  'type User { id: ID! email: String! @unique } type Query { hello: String users: [User!]! }';

let running: Running | undefined;
afterEach(async () => {
  await running?.close();
  running = undefined;
});

async function start(cors: string): Promise<string> {
  const manifest = `name: test\nserver: { cors: ${cors} }\napi: { access: public }\nauth: { refresh: { delivery: cookie } }\n`;
  running = await createServer({
    project: projectOf(SDL, manifest),
    capabilities: [auth()],
  }).start('127.0.0.1:0', {
    env: {
      DATABASE_URL: ':memory:',
      JWT_SECRET: 'a test secret that is long enough to be one',
      LOG_LEVEL: 'silent',
    },
  });
  return running.url;
}

const origin = 'https://anywhere.test';
const page = { origin, 'sec-fetch-site': 'cross-site' };

describe('server.cors: ["*"]', () => {
  it('is every origin, without cookies', async () => {
    const url = await start('["*"]');
    const preflight = await fetch(`${url}/graphql`, {
      method: 'OPTIONS',
      headers: { ...page, 'access-control-request-method': 'POST' },
    });
    const post = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { ...page, 'content-type': 'application/json' },
      body: '{"query":"{ __typename }"}',
    });
    const get = await fetch(`${url}/graphql?query={__typename}`, { headers: page });
    for (const response of [preflight, post, get]) {
      expect(response.status).toBeLessThan(300);
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
      expect(response.headers.get('access-control-allow-credentials')).toBeNull();
    }
    const opened = await new Promise<boolean>((resolve) => {
      const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
        origin,
      });
      socket.on('open', () => (socket.terminate(), resolve(true)));
      socket.on('error', () => resolve(false));
    });
    expect(opened).toBe(true);
  });

  it('keeps refusing what a cookie authenticates', async () => {
    const url = await start('["*"]');
    for (const path of ['/api/auth/refresh', '/api/auth/logout'])
      for (const from of [origin, '*']) {
        const response = await fetch(url + path, {
          method: 'POST',
          headers: {
            origin: from,
            'content-type': 'application/json',
            cookie: 'refresh_token=x; __Host-refresh=x; refresh=x',
          },
          body: '{}',
        });
        expect(response.ok).toBe(false);
      }
  });
});

describe('a list of origins', () => {
  it('lets those alone, with cookies', async () => {
    const url = await start(`["${origin}"]`);
    const ask = async (from: string) => {
      const { headers } = await fetch(`${url}/graphql?query={__typename}`, {
        headers: { origin: from },
      });
      return [
        headers.get('access-control-allow-origin'),
        headers.get('access-control-allow-credentials'),
      ];
    };
    expect(await ask(origin)).toEqual([origin, 'true']);
    expect((await ask('https://other.test'))[0]).not.toBe('https://other.test');
  });
});

describe('headers of other origins', () => {
  const asked = { ...page, 'access-control-request-method': 'POST' };
  for (const cors of ['["*"]', `["${origin}"]`])
    it(`${cors}: a page reads what a sign-in and a limit give, and sends its organization`, async () => {
      const url = await start(cors);
      const { headers } = await fetch(`${url}/api/health`, { headers: page });
      expect(headers.get('access-control-expose-headers')!.split(',')).toEqual(
        expect.arrayContaining([
          'ETag',
          'Location',
          'Retry-After',
          'RateLimit',
          'RateLimit-Policy',
          'X-Device-Token',
          'X-Incomplete',
          'X-Remembered-Device',
          'X-Request-Id',
        ]),
      );
      const preflight = await fetch(`${url}/graphql`, {
        method: 'OPTIONS',
        headers: { ...asked, 'access-control-request-headers': 'x-organization,content-type' },
      });
      expect(preflight.headers.get('access-control-allow-headers')).toContain('x-organization');
    });
});
