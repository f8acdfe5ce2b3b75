import { connect } from 'node:net';
import type { Middleware } from 'koa';
import { afterEach, describe, expect, it } from 'vitest';
import { createServer } from '../../runtime/core/server.ts';
import type { Running } from '../../runtime/core/running.ts';

let running: Running | undefined;
const lines: string[] = [];
afterEach(async () => {
  await running?.close();
  running = undefined;
  lines.length = 0;
});

async function start(middleware: Middleware): Promise<URL> {
  running = await createServer()
    .schema('type Query { hello: String }')
    .use(middleware)
    .start('127.0.0.1:0', {
      env: { DATABASE_URL: ':memory:' },
      logTo: { write: (line) => void lines.push(line) },
    });
  return new URL('/graphql', running.url);
}

const BODY = '{"query":"{ __typename }"}';
const post = (url: URL) =>
  fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: BODY });

describe('a middleware', () => {
  it('that waits finds the body whole behind it', async () => {
    const url = await start(async (_, next) => {
      await new Promise((resolve) => setTimeout(resolve, 30));
      await next();
    });
    expect(await (await post(url)).json()).toEqual({ data: { __typename: 'Query' } });
  });

  it('that reads the body itself gets it, and GraphQL says that it is gone', async () => {
    const seen: string[] = [];
    const url = await start(async (ctx, next) => {
      let text = '';
      for await (const chunk of ctx.req) text += chunk;
      seen.push(text);
      await next();
    });
    const { errors } = (await (await post(url)).json()) as { errors: { message: string }[] };
    expect(errors.map(({ message }) => message)).toEqual(['Internal server error']);
    expect(seen).toEqual([BODY]);
    expect(lines.join('')).toContain('a middleware has read the body of this request');
  });

  it('goes on when the client leaves in the middle of the body', async () => {
    const { promise: left, resolve } = Promise.withResolvers<void>();
    const { promise: began, resolve: begin } = Promise.withResolvers<void>();
    const url = await start(async (_, next) => {
      begin();
      try {
        await next();
      } finally {
        resolve();
      }
    });
    const socket = connect(Number(url.port), url.hostname);
    socket.on('error', () => {});
    socket.write(
      `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{`,
    );
    await began;
    socket.resetAndDestroy();
    await left;
  });
});
