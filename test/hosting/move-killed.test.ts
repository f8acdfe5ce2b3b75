import { type ChildProcess, execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith, engines } from '../engines/available.ts';
import { engineJson } from '../engines/call-engine.ts';
import { importImage } from '../engines/import-image.ts';
import { root } from '../source-files.ts';
import { token, visit } from './server.ts';

const program = fileURLToPath(new URL('killable-server.ts', import.meta.url));

/** A server in a process of its own, which is started again on its folder after a kill. */
interface Host {
  readonly socket: string;
  readonly folder: string;
  process: ChildProcess;
  url: string;
  ingress: number;
  onStep: (step: string) => void;
}

function createHost(kind: 'docker' | 'podman'): Host {
  const folder = mkdtempSync(join(tmpdir(), 'tf-move-'));
  mkdirSync(join(folder, 'tmp'));
  const { socket } = engines.find((engine) => engine.kind === kind)!;
  return { socket, folder, process: null as never, url: '', ingress: 0, onStep: () => {} };
}

async function start(host: Host): Promise<void> {
  const child = fork(program, [host.socket, host.folder], {
    env: { ...process.env, TMPDIR: join(host.folder, 'tmp'), MOVE_PATIENCE: '8000' },
    ...{ execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] },
  });
  host.process = child;
  await new Promise<void>((resolve, reject) => {
    child.on('message', ({ step, url, ingress }: any) => {
      if (step) host.onStep(step);
      if (url) resolve(void Object.assign(host, { url, ingress }));
    });
    child.once('exit', () => reject(new Error('the server did not start')));
  });
}

async function call({ url }: Host, method: string, path: string, body?: unknown): Promise<any> {
  const answer = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return answer.json();
}

/** What the engine has of this host. */
async function leftOf({ socket, folder }: Host): Promise<number> {
  const database = new DatabaseSync(join(folder, 'data/app.db'), { readOnly: true });
  const { value } = database
    .prepare("SELECT value FROM hosting_settings WHERE key = 'instance'")
    .get() as { value: string };
  database.close();
  const filters = encodeURIComponent(JSON.stringify({ label: [`twofold.instance=${value}`] }));
  const { Volumes } = await engineJson<any>(socket, { path: `/volumes?filters=${filters}` });
  const containers = await engineJson<any[]>(socket, {
    path: `/containers/json?all=1&filters=${filters}`,
  });
  const images = await engineJson<any[]>(socket, { path: '/images/json' });
  const tags = images.flatMap(({ RepoTags }) => RepoTags ?? []);
  const own = tags.filter((tag: string) => tag.includes(`twofold-${value}/`));
  return (Volumes ?? []).length + containers.length + own.length;
}

describeWith('docker', 'a move that is cut', () => {
  const source = createHost('docker');
  const target = createHost('podman');
  const hosts = [source, target];

  beforeAll(async () => {
    await importImage(source.socket, 'twofold-test/web:1');
    await Promise.all(hosts.map(start));
    const { error } = await call(source, 'POST', '/api/apps', {
      ...{ name: 'shop', image: 'docker.io/twofold-test/web:1', domain: 'shop.test' },
      command: [
        'sh',
        '-c',
        '[ -f /data/index.html ] || echo old > /data/index.html; exec httpd -f -p "$PORT" -h /data',
      ],
      volumes: [{ name: 'data', path: '/data' }],
    });
    expect(error).toBe(undefined);
  });
  afterAll(async () => {
    for (const host of hosts) {
      if (host.process.exitCode === null && host.process.signalCode === null) {
        await call(host, 'DELETE', '/api/apps/shop?volumes=true');
        host.process.disconnect();
        await once(host.process, 'exit');
      }
      rmSync(host.folder, { recursive: true, force: true });
    }
  });

  /** Runs the command; `at` is called with it at this step of one of the servers. */
  function move(
    at: Host,
    step: string,
    kill: (command: ChildProcess) => void,
  ): Promise<number | null> {
    const servers = ['--from', source.url, '--from-token', token, '--to', target.url];
    const words = ['host', 'move', 'shop', ...servers];
    const env = { ...process.env, DEPLOY_TOKEN: token };
    // Without it the move may be over before the signal comes.
    at.process.send({ hold: step });
    return new Promise((resolve) => {
      const command = execFile(
        process.execPath,
        [join(root, 'generator/bin.js'), ...words],
        { env },
        () => resolve(command.exitCode),
      );
      at.onStep = (seen) => {
        if (seen !== step) return;
        at.onStep = () => {};
        kill(command);
      };
    });
  }

  const until = async (what: string, is: () => Promise<boolean>) => {
    for (let tries = 0; tries < 450; tries += 1) {
      if (await is().catch(() => false)) return;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    throw new Error(`${what} did not come about`);
  };
  const served = async () => (await visit(source.ingress, 'shop.test', '/')).text === 'old\n';
  const isEmpty = async () =>
    (await call(target, 'GET', '/api/apps')).total === 0 && (await leftOf(target)) === 0;

  const CUTS: readonly (readonly ['command' | 'source' | 'target', Host, string])[] = [
    ['command', source, 'move-stopped'],
    ['command', target, 'move-started'],
    ['source', source, 'move-stopped'],
    ['source', source, 'move-marked'],
    ['target', target, 'move-volume'],
    ['target', target, 'move-started'],
  ];

  it.each(CUTS)('by the end of the %s leaves everything as it was: %#', async (who, at, step) => {
    const code = await move(at, step, (command) =>
      (who === 'command' ? command : at.process).kill('SIGKILL'),
    );
    expect(code).not.toBe(0);
    if (who !== 'command') await start(at);
    await until('the source serves', served);
    await until('the target has nothing', isEmpty);
    expect(await call(source, 'GET', '/api/apps/shop')).toMatchObject({ status: 'running' });
  });

  it('is finished when the target has kept the app, also by a source that starts again', async () => {
    await move(source, 'move-kept', () => source.process.kill('SIGKILL'));
    await start(source);
    const moved = async () =>
      (await call(source, 'GET', '/api/apps/shop')).moved?.to === target.url;
    await until('the source knows that the app has moved', moved);
    await until('the source passes requests on', served);
    expect(await call(source, 'GET', '/api/apps/shop')).toMatchObject({ status: 'stopped' });
    expect(await call(target, 'GET', '/api/apps/shop')).toMatchObject({ status: 'running' });
    await call(target, 'POST', '/api/apps/shop/exec', {
      command: ['sh', '-c', 'echo new > /data/index.html'],
    });
    expect((await visit(source.ingress, 'shop.test', '/')).text).toBe('new\n');
  }, 240_000);
});
