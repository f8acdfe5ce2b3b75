import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TAR_END, tarFile } from './raw-tar.ts';
import { describeEachEngine } from '../engines/available.ts';
import { callEngine } from '../engines/call-engine.ts';
import { importImage } from '../engines/import-image.ts';
import { sourceForm } from './archives.ts';
import { startServer, type TestServer } from './server.ts';

const HOUR = 3600;
const now = Math.floor(Date.now() / 1000);

/** A packed source, all of whose files have one time. */
const archive = (files: Record<string, string>, mtime: number) =>
  gzipSync(
    Buffer.concat([
      ...Object.entries(files).map(([path, text]) => tarFile(path, text, mtime)),
      TAR_END,
    ]),
  );

const site = (word: string) => ({
  'index.html': '<h1>home</h1>',
  'app.js': `version("${word}")`,
  'about.html': '<h1>about</h1>',
  'docs/index.html': '<h1>docs</h1>',
  'assets/index-DiwrgTda.js': 'hashed()',
  'static/js/main.3f2a1b4c.chunk.js': 'hashed()',
  'assets/user-DataGrd2.js': 'a word with a number',
  'assets/annual-document.css': 'a word',
  '.well-known/security.txt': 'Contact: mailto:a@b.test',
  '.npmrc': 'a setting',
  'empty.txt': '',
});

describeEachEngine('the files of a static site', ({ socket }) => {
  let server: TestServer;
  beforeAll(async () => {
    const node = await importImage(socket, 'twofold-test/node:1');
    // The name that the made Dockerfile builds on.
    await callEngine(socket, {
      method: 'POST',
      path: `/images/${node}/tag?repo=docker.io/library/node&tag=24-slim`,
    });
    server = await startServer({
      socket,
      model: { deploys: { keep: 5, readyTimeout: 60_000, drain: 1000 } },
    });
    await deploy(archive(site('one'), now - 2 * HOUR));
  });
  afterAll(() => server?.end());

  async function deploy(source: Buffer) {
    const form = sourceForm({ name: 'site' }, source);
    const { status, body } = await server.api('POST', '/api/deploy?wait=true', form);
    expect([status, body.error ?? body.reason]).toEqual([200, null]);
  }
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    server.visit('site.apps.test', path, { headers, method });

  it('have a strong tag and a time, and are asked for again unless a content hash names them', async () => {
    const { status, headers, text } = await get('/app.js');
    expect([status, text]).toEqual([200, 'version("one")']);
    expect(headers).toMatchObject({
      etag: expect.stringMatching(/^"[\w-]{43}"$/),
      'last-modified': new Date((now - 2 * HOUR) * 1000).toUTCString(),
      'cache-control': 'no-cache',
      'content-type': 'text/javascript; charset=utf-8',
    });
    for (const [path, lasts] of [
      ['/assets/index-DiwrgTda.js', true],
      ['/static/js/main.3f2a1b4c.chunk.js', true],
      ['/assets/user-DataGrd2.js', false],
      ['/assets/annual-document.css', false],
      ['/', false],
    ] as const)
      expect([path, (await get(path)).headers['cache-control']]).toEqual([
        path,
        lasts ? 'public, max-age=31536000, immutable' : 'no-cache',
      ]);
  });

  it('are 304 for the tag first, then for the time', async () => {
    const { etag, 'last-modified': modified } = (await get('/app.js')).headers;
    const asked: [number, Record<string, string>][] = [
      [304, { 'if-none-match': etag }],
      [304, { 'if-none-match': `"other", W/${etag}` }],
      [304, { 'if-none-match': '*' }],
      [304, { 'if-modified-since': modified }],
      [200, { 'if-none-match': '"other"', 'if-modified-since': modified }],
      [200, { 'if-modified-since': new Date((now - HOUR) * 1000).toUTCString() }],
      [412, { 'if-match': '"other"' }],
      [200, { 'if-match': etag }],
    ];
    for (const [status, headers] of asked)
      expect([headers, (await get('/app.js', headers)).status]).toEqual([headers, status]);
  });

  it('come in parts', async () => {
    const { etag } = (await get('/app.js')).headers;
    const asked: [string, number, string, string | undefined, string?][] = [
      ['bytes=0-6', 206, 'version', 'bytes 0-6/14'],
      ['bytes=9-', 206, 'one")', 'bytes 9-13/14'],
      ['bytes=-2', 206, '")', 'bytes 12-13/14'],
      ['bytes=0-99', 206, 'version("one")', 'bytes 0-13/14'],
      ['bytes=14-', 416, '', 'bytes */14'],
      ['bytes=5-1', 200, 'version("one")', undefined],
      ['bytes=0-0,2-2', 200, 'version("one")', undefined],
      ['bytes=0-6', 206, 'version', 'bytes 0-6/14', etag],
      ['bytes=0-6', 200, 'version("one")', undefined, '"other"'],
    ];
    for (const [range, status, text, content, condition] of asked) {
      const headers = { range, ...(condition && { 'if-range': condition }) };
      const part = await get('/app.js', headers);
      expect([range, part.status, part.text, part.headers['content-range']]).toEqual([
        range,
        status,
        text,
        content,
      ]);
    }
  });

  it('are found as links name them, and nothing else is', async () => {
    const asked: [string, number, string][] = [
      ['/', 200, '<h1>home</h1>'],
      ['/docs/', 200, '<h1>docs</h1>'],
      ['/docs?a=1', 301, ''],
      ['/about', 200, '<h1>about</h1>'],
      ['/empty.txt', 200, ''],
      ['/.well-known/security.txt', 200, 'Contact: mailto:a@b.test'],
      ['/.npmrc', 404, 'Not found\n'],
      ['/.twofold.Dockerfile', 404, 'Not found\n'],
      ['/..%2f..%2fetc/passwd', 400, 'Bad request\n'],
      ['/absent', 404, 'Not found\n'],
    ];
    for (const [path, status, text] of asked) {
      const page = await get(path, { accept: 'text/html' });
      expect([path, page.status, page.text]).toEqual([path, status, text]);
    }
    expect((await get('/docs?a=1')).headers['location']).toBe('/docs/?a=1');
    expect((await get('/app.js', {}, 'HEAD')).headers['content-length']).toBe('14');
    expect((await get('/app.js', {}, 'POST')).status).toBe(405);
  });

  it('are read by a user without rights', async () => {
    const { body } = await server.api('POST', '/api/apps/site/exec', { command: ['id', '-u'] });
    expect(body.stdout).toBe('1000\n');
  });

  it('are seen to change at the same length, forwards and back, and 404.html is what is missing', async () => {
    const first = (await get('/app.js')).headers;
    const changed = { ...site('two'), '404.html': '<h1>lost</h1>' };
    await deploy(archive(changed, now - HOUR));
    const second = (await get('/app.js')).headers;
    const ask = async ({ etag, 'last-modified': modified }: Record<string, string>) => [
      (await get('/app.js', { 'if-none-match': etag! })).text,
      (await get('/app.js', { 'if-modified-since': modified! })).text,
    ];
    expect(await ask(first)).toEqual(['version("two")', 'version("two")']);
    const lost = await get('/absent', { accept: 'text/html' });
    expect([lost.status, lost.text]).toEqual([404, '<h1>lost</h1>']);
    await server.api('POST', '/api/apps/site/rollback');
    expect(await ask(second)).toEqual(['version("one")', 'version("one")']);
  });
});
