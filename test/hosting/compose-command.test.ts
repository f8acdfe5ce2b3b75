import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { referencesOf } from '../../generator/deploy/compose-references.ts';
import { root } from '../source-files.ts';
import { describeEachEngine } from '../engines/available.ts';
import { importImage } from '../engines/import-image.ts';
import { startServer, token, type TestServer } from './server.ts';

const folder = mkdtempSync(join(tmpdir(), 'tf-compose-'));
const FILE = `
services:
  web:
    image: "docker.io/twofold-test/web:\${TAG:?which}"
    healthcheck: { test: [CMD, "true"] }
    env_file: .env.web
    environment: [PASSED]
    volumes: ["./conf:/etc/conf"]
`;

function host(...given: string[]): Promise<{ code: number; out: string; err: string }> {
  const env = { ...process.env, TAG: '1', PASSED: 'from here', DEPLOY_TOKEN: token };
  const words = [join(root, 'generator/bin.js'), 'host', 'compose', ...given];
  return new Promise((resolve) =>
    execFile(process.execPath, words, { cwd: folder, env }, (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, out, err }),
    ),
  );
}

describeEachEngine('generator host compose', ({ socket }) => {
  let server: TestServer;
  beforeAll(async () => {
    const files = { 'compose.yaml': FILE, '.env.web': 'COLOR=blue\n', 'conf/a.conf': 'a' };
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    await importImage(socket, 'twofold-test/web:1');
    server = await startServer({ socket });
  });
  afterAll(() => server.end());

  it('sends the file with what it names, and says what would change', async () => {
    const to = ['--to', server.url, '--project', 'shop'];
    const dry = await host('compose.yaml', ...to, '--dry-run', '--prune', '--json');
    expect([dry.code, JSON.parse(dry.out)]).toEqual([
      0,
      expect.objectContaining({ ok: true, dry_run: true, created: ['shop-web'], gone: [] }),
    ]);
    expect((await server.api('GET', '/api/apps')).body.total).toBe(0);
    writeFileSync(join(folder, 'bad.yaml'), FILE.replace('image:', 'privileged: true\n    image:'));
    const refused = await host('bad.yaml', ...to);
    expect([refused.code, refused.err]).toEqual([
      2,
      expect.stringContaining('services.web.privileged is not supported'),
    ]);
    expect((await host('none.yaml', ...to)).code).toBe(2);
    expect((await host('compose.yaml', '--to', server.url)).code).toBe(2);
  });

  it('makes the apps, and the second time nothing', async () => {
    const words = ['compose.yaml', '--to', server.url, '--project', 'shop', '--json'];
    const made = await host(...words);
    expect([made.code, JSON.parse(made.out)]).toEqual([
      0,
      expect.objectContaining({ ok: true, dry_run: false, created: ['shop-web'] }),
    ]);
    const app = (await server.api('GET', '/api/apps/shop-web')).body;
    expect(app).toMatchObject({ status: 'running', env: { COLOR: 'blue', PASSED: 'from here' } });
    const exec = { command: ['cat', '/etc/conf/a.conf'] };
    expect((await server.api('POST', '/api/apps/shop-web/exec', exec)).body.stdout).toBe('a');
    expect(JSON.parse((await host(...words)).out)).toMatchObject({ unchanged: ['shop-web'] });
  });
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('finds what a compose file names outside of itself', () => {
  expect(referencesOf(FILE)).toEqual({
    ...{ variables: ['TAG', 'PASSED'], envFiles: ['.env.web'], needsFiles: true },
  });
  expect(referencesOf('services: { a: { image: x } }').needsFiles).toBe(false);
  expect(referencesOf('services: { a: { build: . } }').needsFiles).toBe(true);
  expect(referencesOf('services: {').needsFiles).toBe(false);
});
