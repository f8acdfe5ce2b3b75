import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Outgoing } from '../../runtime/core/http/sending.ts';

const TEXTS: Readonly<Record<string, string>> = {
  ascii: '{"name":"Zoe"}',
  latin: '{"name":"Zoë"}',
  wide: '{"name":"Zoë 🙂"}',
  long: 'x'.repeat(100_000),
  'long and wide': 'ë'.repeat(100_000),
  empty: '',
};

describe('a text', () => {
  let server: Server;
  let url: string;

  beforeAll(async () => {
    const koa = new Koa();
    koa.use((ctx) => {
      const text = TEXTS[decodeURIComponent(ctx.path.slice(1))];
      if (ctx.query['written'] === undefined) ctx.body = text;
      else {
        ctx.respond = false;
        ctx.res.write('before ');
        ctx.res.end(text);
      }
    });
    server = createServer({ ServerResponse: Outgoing }, koa.callback());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise((resolve) => (server.close(resolve), server.closeAllConnections())));

  it.each(Object.entries(TEXTS))('arrives as UTF-8, byte for byte: %s', async (name, text) => {
    const whole = await fetch(`${url}/${encodeURIComponent(name)}`);
    expect(Number(whole.headers.get('content-length'))).toBe(Buffer.byteLength(text));
    expect(await whole.text()).toBe(text);
    const written = await fetch(`${url}/${encodeURIComponent(name)}?written`);
    expect(await written.text()).toBe(`before ${text}`);
    const head = await fetch(`${url}/${encodeURIComponent(name)}`, { method: 'HEAD' });
    expect([head.headers.get('content-length'), await head.text()]).toEqual([
      String(Buffer.byteLength(text)),
      '',
    ]);
  });
});
