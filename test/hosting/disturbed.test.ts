import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../engines/available.ts';
import { importImage } from '../engines/import-image.ts';
import { sourceForm, tarGzOf } from './archives.ts';
import { startServer, type TestServer } from './server.ts';

const ID = 'f'.repeat(64);
/** What a Podman 4.3.1 said when an image, of anyone's, was removed while it built, listed or pruned. */
const SAID = {
  build: {
    error:
      'checking if cached image exists from a previous build: getting top layer info: layer not known\n',
  },
  list: {
    cause: 'file does not exist',
    message: `locating item named "manifest" for image with ID "${ID}" (consider removing the image to resolve the issue): file does not exist`,
    response: 500,
  },
  prune: {
    cause: 'image not known',
    message: `reading image "${ID}": locating image with ID "${ID}": image not known`,
    response: 500,
  },
};

/** Leads to an engine, and puts into the mouth of the next call of a kind what the engine says now and then. */
function createDoor(socketPath: string) {
  const next = new Map<
    string,
    { readonly status: number; readonly body: object; readonly always?: boolean }
  >();
  const kindOf = (method = '', url = '') =>
    /\/build\?/.test(url)
      ? 'build'
      : /\/images\/json/.test(url)
        ? 'list'
        : /\/images\/prune/.test(url)
          ? 'prune'
          : method;
  const server: Server = createServer((asked, answer) => {
    const kind = kindOf(asked.method, asked.url);
    const said = next.get(kind);
    if (said) {
      if (!said.always) next.delete(kind);
      asked
        .resume()
        .on('end', () =>
          answer
            .writeHead(said.status, { 'content-type': 'application/json' })
            .end(`${JSON.stringify(said.body)}\n`),
        );
      return;
    }
    const { method, url, headers } = asked;
    const onward = request({ socketPath, method, path: url, headers }, (reply) => {
      answer.writeHead(reply.statusCode ?? 500, reply.headers);
      answer.flushHeaders();
      reply.on('error', () => answer.destroy()).pipe(answer);
    });
    answer.on('close', () => onward.destroy());
    asked.pipe(onward.on('error', () => answer.destroy()));
  });
  return { server, next };
}

describeWith('podman', 'a Podman whose images are removed meanwhile', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tf-door-'));
  const socket = process.env['TEST_PODMAN_SOCKET'] ?? '';
  const door = createDoor(socket);
  let server: TestServer;
  let name = '';

  beforeAll(async () => {
    await importImage(socket, 'twofold-test/web:1');
    await new Promise<void>((resolve) => door.server.listen(join(folder, 'engine.sock'), resolve));
    server = await startServer({ socket: join(folder, 'engine.sock') });
  });
  afterAll(async () => {
    await server?.end();
    door.server.closeAllConnections();
    door.server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('builds again, and says so in the log', async () => {
    name = `again-${Date.now().toString(36)}`;
    door.next.set('build', { status: 200, body: SAID.build });
    const source = tarGzOf({
      Dockerfile: 'FROM docker.io/twofold-test/web:1\nCOPY page.html /www/index.html\n',
      'page.html': 'built again',
    });
    const { status, body } = await server.api(
      'POST',
      '/api/deploy?wait=true',
      sourceForm({ name, port: 8080 }, source),
    );
    expect([status, body.status, body.error, door.next.size]).toEqual([
      200,
      'healthy',
      undefined,
      0,
    ]);
    expect((await server.visit(`${name}.apps.test`)).text).toBe('built again');
    expect(
      (await server.api('GET', `/api/apps/${name}/deployments/${body.number}/logs`)).body,
    ).toMatch(/Building again: Podman lost sight/);
  });

  it('forgets old images and prunes all the same', async () => {
    const warned: string[] = [];
    const warn = server.kernel.log.warn;
    server.kernel.log.warn = ((line: unknown) => void warned.push(String(line))) as never;
    door.next.set('list', { status: 500, body: SAID.list });
    const again = await server.api('POST', `/api/apps/${name}/deploy`, {
      image: 'docker.io/twofold-test/web:1',
    });
    expect([again.status, again.body.error, warned, door.next.size]).toEqual([
      200,
      undefined,
      [],
      0,
    ]);
    door.next.set('prune', { status: 500, body: SAID.prune });
    const pruned = await server.api('POST', '/api/system/prune');
    expect([pruned.status, pruned.body.error, door.next.size]).toEqual([200, undefined, 0]);
    server.kernel.log.warn = warn;
  });

  it('says what it was when it does not end', async () => {
    door.next.set('build', { status: 200, body: SAID.build, always: true });
    const { status, body } = await server.api(
      'POST',
      '/api/deploy?wait=true',
      sourceForm(
        { name: `${name}-never`, port: 8080 },
        tarGzOf({ Dockerfile: 'FROM docker.io/twofold-test/web:1\n' }),
      ),
    );
    door.next.clear();
    expect([status, body.error]).toEqual([
      422,
      expect.stringMatching(/build failed.*layer not known/),
    ]);
  });
});
