import { afterAll, beforeAll, expect, it } from 'vitest';
import { gzipSync } from 'node:zlib';
import { TAR_END, tarFile } from './raw-tar.ts';
import { describeEachEngine } from '../engines/available.ts';
import { importImage } from '../engines/import-image.ts';
import { sourceForm } from './archives.ts';
import { startServer, type TestServer } from './server.ts';

const HOUR = 3600;
const now = Math.floor(Date.now() / 1000);

/** A site behind busybox's own web server, which names a file's version by its time and length. */
const SITE = [
  'FROM docker.io/twofold-test/web:1',
  'COPY site /site',
  'RUN echo "ran once"',
  'CMD ["sh", "-c", "exec httpd -f -p $PORT -h /site"]',
].join('\n');

const archive = (text: string, mtime: number) =>
  gzipSync(
    Buffer.concat([
      tarFile('Dockerfile', SITE, mtime),
      tarFile('site/app.js', text, mtime),
      TAR_END,
    ]),
  );

describeEachEngine('the times of deployed files', ({ socket }) => {
  let server: TestServer;
  beforeAll(async () => {
    await importImage(socket, 'twofold-test/web:1');
    server = await startServer({ socket });
  });
  afterAll(() => server?.end());

  async function deploy(name: string, source: Buffer) {
    const form = sourceForm({ name }, source);
    const { status, body } = await server.api('POST', '/api/deploy?wait=true', form);
    expect([status, body.error ?? body.reason]).toEqual([200, null]);
    return (await server.api('GET', `/api/apps/${name}/deployments/${body.number}/logs`))
      .body as string;
  }
  const get = (headers: Record<string, string> = {}) =>
    server.visit('site.apps.test', '/app.js', { headers });

  it('are those of the archive, so that a browser sees a change of the same length', async () => {
    await deploy('site', archive('version("one")', now - 2 * HOUR));
    const first = await get();
    expect([first.text, Date.parse(first.headers['last-modified'])]).toEqual([
      'version("one")',
      (now - 2 * HOUR) * 1000,
    ]);
    await deploy('site', archive('version("two")', now - HOUR));
    for (const headers of [
      { 'if-none-match': first.headers['etag'] ?? '"none"' },
      { 'if-modified-since': first.headers['last-modified'] },
    ]) {
      const second = await get(headers);
      expect([second.status, second.text]).toEqual([200, 'version("two")']);
    }
  });

  it('leave a build as cacheable as it was', async () => {
    await deploy('cached', archive('same', now - 2 * HOUR));
    expect(await deploy('cached', archive('same', now - HOUR))).toMatch(/using cache/i);
    const log = await deploy('cached', archive('same', 0));
    expect(log.match(/using cache/gi)?.length).toBeGreaterThanOrEqual(2);
  });
});
