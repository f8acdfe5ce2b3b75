import { connect } from 'node:net';
import { getActiveResourcesInfo } from 'node:process';
import { afterEach, describe, expect, it } from 'vitest';
import type { Plugin } from '../../runtime/core/plugin.ts';
import { closeAll, serveRoutes } from './harness.ts';

afterEach(closeAll);

/** Answers what arrived: each part with its size. */
const list: Plugin['routes'] = (router) => {
  const upload = { maxFileSize: '1KiB', maxFiles: 2, types: ['image/*', 'text/plain'] } as const;
  router.post('/files', { upload }, async (ctx) => {
    const parts = [];
    for await (const { name, filename, type, bytes } of ctx.files())
      parts.push({ name, filename, type, size: (await bytes()).length });
    return parts;
  });
  router.post('/first', { upload: true }, async (ctx) => {
    for await (const part of ctx.files()) return { name: part.name };
    return {};
  });
  router.post('/skipping', { upload: true }, async (ctx) => {
    const texts = [];
    for await (const part of ctx.files()) if (!part.filename) texts.push(await part.text());
    return texts;
  });
};

function form(parts: Record<string, string | Blob>): FormData {
  const made = new FormData();
  for (const [name, value] of Object.entries(parts)) made.append(name, value);
  return made;
}

const png = (size: number) => new Blob(['x'.repeat(size)], { type: 'image/png' });

describe('an upload', () => {
  it('arrives part by part, files and fields in their order', async () => {
    const { ask } = await serveRoutes(list);
    const { body } = await ask('POST /files', { body: form({ title: 'Ada', file: png(1000) }) });
    expect(body).toEqual([
      { name: 'title', type: 'text/plain', size: 3 },
      { name: 'file', filename: 'blob', type: 'image/png', size: 1000 },
    ]);
  });

  it('may be left unread, in part or from the first part on', async () => {
    const { ask } = await serveRoutes(list);
    const body = () => form({ a: png(3_000_000), b: 'text', c: png(100_000), d: 'more' });
    expect((await ask('POST /skipping', { body: body() })).body).toEqual(['text', 'more']);
    expect((await ask('POST /first', { body: body() })).body).toEqual({ name: 'a' });
  });

  it('is refused with 413 for a file or a number above the bound, 415 for a type, 400 when broken', async () => {
    const { ask } = await serveRoutes(list);
    const post = async (body: unknown, type?: string) =>
      (await ask('POST /files', { body, ...(type !== undefined && { type }) })).status;
    expect(await post(form({ a: png(1025) }))).toBe(413);
    expect(await post(form({ a: png(1), b: png(1), c: png(1) }))).toBe(413);
    expect(await post(form({ a: new Blob(['<html>'], { type: 'text/html' }) }))).toBe(415);
    expect(await post({})).toBe(415);
    const broken = 'multipart/form-data; boundary=x';
    expect(await post('nothing of a form', broken)).toBe(400);
    const cut =
      '--x\r\nContent-Disposition: form-data; name="a"; filename="a.png"\r\nContent-Type: image/png\r\n\r\nabc';
    expect(await post(cut, broken)).toBe(400);
  });

  it('that is abandoned leaves nothing behind', async () => {
    let left = 0;
    const { port, ask } = await serveRoutes((router) => {
      router.post('/files', { upload: { maxFileSize: '1GiB' } }, async (ctx) => {
        try {
          for await (const part of ctx.files()) await part.bytes();
        } finally {
          left += 1;
        }
      });
      router.get('/ping', () => 'pong');
    });
    await ask('GET /ping');
    const before = resources();
    for (let count = 0; count < 20; count += 1) await abandon(port);
    await expect.poll(() => left).toBe(20);
    await expect.poll(resources).toBeLessThanOrEqual(before);
    expect((await ask('GET /ping')).body).toBe('pong');
  });
});

const resources = () =>
  getActiveResourcesInfo().filter((each) => /TCP|FSReq|File/.test(each)).length;

/** Begins an upload and closes the connection in the middle of its first file. */
async function abandon(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  const head = [
    'POST /files HTTP/1.1',
    'Host: localhost',
    'Content-Type: multipart/form-data; boundary=x',
    'Content-Length: 1000000',
  ];
  const part = '--x\r\nContent-Disposition: form-data; name="a"; filename="a"\r\n\r\n';
  socket.write(`${head.join('\r\n')}\r\n\r\n${part}${'x'.repeat(50_000)}`);
  await new Promise((resolve) => setTimeout(resolve, 20));
  socket.destroy();
}
