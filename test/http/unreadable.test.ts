import net from 'node:net';
import type { Context } from 'koa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createServer, type Running } from '@twofold/runtime';
import { projectOf } from '../graphql/harness.ts';
import { sendRaw } from '../rest/hostile.ts';

describe('bytes that are no request', () => {
  let running: Running;
  beforeAll(async () => {
    const slow = (ctx: Context) => {
      ctx.respond = false;
      ctx.res.writeHead(200, { 'content-length': '9' }).write('begun');
    };
    const server = createServer({
      project: projectOf('type Query { hello: String }'),
      routes: (router) => void router.get('/slow', slow),
    });
    running = await server.start('127.0.0.1:0', {
      env: { DATABASE_URL: ':memory:', LOG_LEVEL: 'silent' },
    });
  });
  afterAll(() => running.close());

  it.each([
    ['a word', 'hello\r\n\r\n', 400],
    ['no target', 'GET\r\n\r\n', 400],
    ['a space in the path', 'GET /api/posts/a b HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['a NUL in the path', 'GET /api/\u0000 HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['a NUL in a header', 'GET / HTTP/1.1\r\nHost: x\r\nX-A: \u0000\r\n\r\n', 400],
    [
      'two lengths',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
      400,
    ],
    [
      'a length beside chunks',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    [
      'a chunk of no size',
      'POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
      400,
    ],
    ['a method of its own', 'DANCE / HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ...['http://[', 'x://y|z', '[', 'http://'].map((target): [string, string, number] => [
      `the target ${target}`,
      `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
      400,
    ]),
    ['TLS', Buffer.from('160301020001000001fc0303', 'hex'), 400],
    [
      'headers without end',
      `GET / HTTP/1.1\r\nHost: x\r\nX-A: ${'x'.repeat(100_000)}\r\n\r\n`,
      431,
    ],
  ])('%s: the answer says so in JSON', async (_name, bytes, status) => {
    const answer = await sendRaw(running.url, bytes);
    expect(answer).toMatchObject({ status });
    expect(answer.head).toMatch(/^content-type: application\/json; charset=utf-8$/im);
    expect(Object.keys(JSON.parse(answer.body))).toEqual(['error']);
  });

  it('say nothing in the middle of an answer', async () => {
    const { port, hostname } = new URL(running.url);
    const seen = await new Promise<string>((resolve, reject) => {
      let text = '';
      const socket = net.connect(Number(port), hostname, () =>
        socket.write('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n'),
      );
      socket.on('data', (chunk) => {
        text += String(chunk);
        if (text.endsWith('begun')) socket.write('no request\r\n\r\n');
      });
      socket.on('error', reject).on('close', () => resolve(text));
    });
    expect(seen).toMatch(/begun$/);
  });

  it('end no other connection', async () => {
    await sendRaw(running.url, 'x\r\n\r\n');
    expect((await fetch(`${running.url}/api/health`)).status).toBe(200);
  });
});
