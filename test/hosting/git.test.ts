import { execFileSync, spawn } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fetchGit } from '../../runtime/hosting/source/git.ts';
import { readTar } from '../../runtime/hosting/archives/tar-read.ts';
import { isSigned, readPush } from '../../runtime/hosting/previews/webhooks.ts';
import { describeEachEngine } from '../engines/available.ts';
import { importImage } from '../engines/import-image.ts';
import { startServer, type TestServer } from './server.ts';

const folder = mkdtempSync(join(tmpdir(), 'tf-git-'));
const work = join(folder, 'work');
const git = (...args: string[]) =>
  execFileSync(
    'git',
    ['-C', work, '-c', 'user.name=t', '-c', 'user.email=t@example.test', ...args],
    { encoding: 'utf8' },
  ).trim();
let remote: Server;
let url: string;
/** When set, the remote asks for this password. */
let password: string | null = null;
const asked: string[] = [];

function commit(files: Record<string, string>, message = 'change'): string {
  for (const [path, text] of Object.entries(files)) writeFileSync(join(work, path), text);
  git('add', '-A');
  git('commit', '-q', '-m', message);
  git('push', '-q', join(folder, 'shop.git'), 'HEAD:main');
  return git('rev-parse', 'HEAD');
}

/** Serves the repository as a real git host does: git's own CGI behind HTTP. */
function serveGit(): Promise<string> {
  remote = createServer((request, response) => {
    asked.push(request.url ?? '');
    const given = Buffer.from((request.headers.authorization ?? '').replace('Basic ', ''), 'base64')
      .toString()
      .split(':')[1];
    if (password !== null && given !== password)
      return void response.writeHead(401, { 'WWW-Authenticate': 'Basic' }).end();
    const { pathname, search } = new URL(request.url ?? '/', 'http://x');
    const env = {
      ...process.env,
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
    };
    const cgi = spawn('git', ['http-backend'], { env: env as NodeJS.ProcessEnv });
    request.pipe(cgi.stdin);
    const chunks: Buffer[] = [];
    cgi.stdout.on('data', (chunk) => chunks.push(chunk));
    cgi.on('close', () => {
      const output = Buffer.concat(chunks);
      const end = output.indexOf('\r\n\r\n');
      for (const line of output.toString('latin1', 0, end).split('\r\n')) {
        const [name = '', value = ''] = line.split(/: (.*)/);
        if (name === 'Status') response.statusCode = Number.parseInt(value, 10);
        else response.setHeader(name, value);
      }
      response.end(output.subarray(end + 4));
    });
  });
  return new Promise((resolve) =>
    remote.listen(0, '127.0.0.1', () =>
      resolve(`http://127.0.0.1:${(remote.address() as AddressInfo).port}/shop.git`),
    ),
  );
}

beforeAll(async () => {
  mkdirSync(work);
  execFileSync('git', ['init', '-q', '-b', 'main', work]);
  execFileSync('git', ['init', '-q', '--bare', '-b', 'main', join(folder, 'shop.git')]);
  url = await serveGit();
});
afterAll(() => {
  remote.close();
  rmSync(folder, { recursive: true });
});

const options = (more = {}) => ({
  policy: { allowHttp: true, allowPrivate: true },
  signal: new AbortController().signal,
  onLine: () => {},
  limit: 1e8,
  ...more,
});

describe('fetching from git', () => {
  it('gives the files of one commit as a tar, and leaves nothing', async () => {
    const sha = commit({ 'a.txt': 'hello' });
    const fetched = await fetchGit({ url, ref: 'main' }, options());
    expect(fetched.commit).toBe(sha);
    expect(Buffer.concat(await Array.fromAsync(fetched.archive())).includes('hello')).toBe(true);
    await fetched.remove();
  });

  it("gives every file the commit's time", async () => {
    commit({ 'timed.txt': 'x' });
    const fetched = await fetchGit({ url, ref: 'main' }, options());
    const times = new Set<number>();
    for await (const { kind, mtime } of readTar(fetched.archive()))
      if (kind === 'file') times.add(mtime);
    await fetched.remove();
    expect([...times]).toEqual([Number(git('log', '-1', '--format=%ct'))]);
  });

  it('says what is wrong', async () => {
    await expect(fetchGit({ url, ref: 'nowhere' }, options())).rejects.toMatchObject({
      status: 422,
      message: expect.stringMatching(/nowhere/),
    });
    await expect(fetchGit({ url: url.replace('shop', 'none') }, options())).rejects.toMatchObject({
      status: 422,
    });
    await expect(
      fetchGit({ url }, options({ policy: { allowHttp: false, allowPrivate: true } })),
    ).rejects.toMatchObject({ status: 400 });
    await expect(
      fetchGit({ url }, options({ policy: { allowHttp: true, allowPrivate: false } })),
    ).rejects.toMatchObject({ status: 400, message: expect.stringMatching(/private/) });
    await expect(
      fetchGit({ url, ref: '--upload-pack=touch /tmp/pwned' }, options()),
    ).rejects.toMatchObject({ status: 400 });
  });

  it('gives a token only when the host asks, and never in an address', async () => {
    password = 'gh-token';
    asked.length = 0;
    await expect(fetchGit({ url }, options())).rejects.toMatchObject({ status: 422 });
    const fetched = await fetchGit({ url, token: 'gh-token' }, options());
    await fetched.remove();
    password = null;
    expect(asked.join()).not.toContain('gh-token');
  });
});

describe('a push', () => {
  const body = Buffer.from(JSON.stringify({ ref: 'refs/heads/main', after: 'a'.repeat(40) }));
  const mac = (secret: string) => createHmac('sha256', secret).update(body).digest('hex');

  it('is taken with the signatures of GitHub, Gitea and GitLab alone', () => {
    expect(isSigned({ body, headers: { 'x-hub-signature-256': `sha256=${mac('s')}` } }, 's')).toBe(
      true,
    );
    expect(isSigned({ body, headers: { 'x-gitea-signature': mac('s') } }, 's')).toBe(true);
    expect(isSigned({ body, headers: { 'x-gitlab-token': 's' } }, 's')).toBe(true);
    for (const headers of [
      {},
      { 'x-hub-signature-256': `sha256=${mac('t')}` },
      { 'x-hub-signature-256': mac('s') },
      { 'x-gitea-signature': '' },
      { 'x-gitlab-token': 't' },
      { 'x-gitlab-token': '' },
    ])
      expect(isSigned({ body, headers }, 's')).toBe(false);
    expect(
      isSigned(
        {
          body: Buffer.concat([body, Buffer.from(' ')]),
          headers: { 'x-gitea-signature': mac('s') },
        },
        's',
      ),
    ).toBe(false);
  });

  it('is read for its branch', () => {
    expect(readPush({ body, headers: { 'x-github-event': 'push' } })).toEqual({
      kind: 'push',
      branch: 'main',
      commit: 'a'.repeat(40),
      deleted: false,
    });
    expect(readPush({ body, headers: { 'x-gitlab-event': 'Push Hook' } }).kind).toBe('push');
    expect(readPush({ body, headers: { 'x-github-event': 'ping' } }).kind).toBe('ping');
  });
});

describeEachEngine('an app from git', ({ socket }) => {
  let server: TestServer;
  const dockerfile = 'FROM docker.io/twofold-test/web:1\nCOPY page.html /www/index.html\n';
  const until = (number: number, status: string) =>
    expect
      .poll(
        async () =>
          (await server.api('GET', `/api/apps/${site}/deployments/${number}`)).body.status,
        { timeout: 60_000 },
      )
      .toBe(status);
  let tries = 0;
  /** A test that is tried again has an app of its own each time. */
  const fresh = (word: string) => `${word}-${(tries += 1)}`;
  let site = '';

  beforeAll(async () => {
    await importImage(socket, 'twofold-test/web:1');
    server = await startServer({ socket, model: { git: { allowHttp: true, allowPrivate: true } } });
  });
  afterAll(() => server?.end());

  it('is built, and built again on a signed push', async () => {
    const mark = randomBytes(4).toString('hex');
    site = fresh('site');
    const first = commit({ Dockerfile: dockerfile, 'page.html': `one ${mark}` });
    await server.api('POST', '/api/apps', { name: site });
    const deployed = await server.api('POST', `/api/apps/${site}/deploy?wait=true`, {
      git: { url, ref: 'main' },
    });
    expect([deployed.status, deployed.body.error, deployed.body.source]).toEqual([
      200,
      undefined,
      { kind: 'git', url, ref: 'main', commit: first },
    ]);
    expect((await server.visit(`${site}.apps.test`)).text).toBe(`one ${mark}`);

    const { secret, path } = (await server.api('PUT', `/api/apps/${site}/webhook`)).body;
    const after = commit({ 'page.html': `two ${mark}` });
    const push = (name: string, body: string, key: string) =>
      server.api('POST', `/api/webhooks/${name}`, new TextEncoder().encode(body), {
        authorization: '',
        'content-type': 'application/json',
        'x-github-event': 'push',
        'x-hub-signature-256': `sha256=${createHmac('sha256', key).update(body).digest('hex')}`,
      });
    const body = JSON.stringify({ ref: 'refs/heads/main', after });
    expect(path).toBe(`/api/webhooks/${site}`);
    const wrong = await push(site, body, 'wrong');
    const unknown = await push('nobody', body, secret);
    expect([wrong.status, wrong.body]).toEqual([401, { error: 'Invalid signature' }]);
    expect([unknown.status, unknown.body]).toEqual([wrong.status, wrong.body]);
    expect(
      (await push(site, JSON.stringify({ ref: 'refs/heads/other', after }), secret)).body,
    ).toEqual({ status: 'ignored' });
    expect((await push(site, body, secret)).body).toEqual({ status: 'deploying', deployment: 2 });
    await until(2, 'healthy');
    expect((await server.visit(`${site}.apps.test`)).text).toBe(`two ${mark}`);
    expect((await push(site, body, secret)).status).toBe(409);
    expect(
      JSON.stringify((await server.api('GET', `/api/apps/${site}/webhook`)).body),
    ).not.toContain(secret);
  });

  it('deploys only the newest of several pushes that come during a deployment', async () => {
    const { secret } = (await server.api('PUT', `/api/apps/${site}/webhook`)).body;
    const before = (await server.api('GET', `/api/apps/${site}/deployments`)).body.total;
    for (let turn = 0; turn < 5; turn += 1) {
      const body = JSON.stringify({
        ref: 'refs/heads/main',
        after: commit({ 'page.html': `burst ${turn} ${randomBytes(4).toString('hex')}` }),
      });
      const answer = await server.api(
        'POST',
        `/api/webhooks/${site}`,
        new TextEncoder().encode(body),
        {
          authorization: '',
          'x-gitea-event': 'push',
          'x-gitea-signature': createHmac('sha256', secret).update(body).digest('hex'),
        },
      );
      expect(answer.status).toBe(202);
    }
    await expect
      .poll(async () => (await server.visit(`${site}.apps.test`)).text, { timeout: 60_000 })
      .toMatch(/^burst 4/);
    const total = (await server.api('GET', `/api/apps/${site}/deployments`)).body.total - before;
    expect(total).toBeLessThan(5);
  });

  it('of a private repository keeps its token, sealed, for the same host only', async () => {
    password = 'private-token';
    const hidden = fresh('hidden');
    await server.api('POST', '/api/apps', { name: hidden });
    expect(
      (await server.api('POST', `/api/apps/${hidden}/deploy?wait=true`, { git: { url } })).status,
    ).toBe(422);
    expect(
      (
        await server.api('POST', `/api/apps/${hidden}/deploy?wait=true`, {
          git: { url, token: 'private-token' },
        })
      ).status,
    ).toBe(200);
    expect((await server.api('POST', `/api/apps/${hidden}/deploy?wait=true`, {})).status).toBe(200);
    for (const path of [
      `/api/apps/${hidden}`,
      `/api/apps/${hidden}/deployments`,
      `/api/apps/${hidden}/deployments/2/logs`,
    ])
      expect(JSON.stringify((await server.api('GET', path)).body)).not.toContain('private-token');
    password = null;
    await server.api('DELETE', `/api/apps/${hidden}`);
  });
});
