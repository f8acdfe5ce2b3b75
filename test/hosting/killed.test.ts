import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { DEPLOY_STEPS, type DeployStep } from '../../runtime/hosting/host/steps.ts';
import { describeEnginesAtOnce } from '../engines/available.ts';
import { callEngine, engineJson } from '../engines/call-engine.ts';
import { importImage } from '../engines/import-image.ts';
import { sourceForm, tarGzOf } from './archives.ts';
import { startServer, token } from './server.ts';

const program = fileURLToPath(new URL('killable-server.ts', import.meta.url));
const GONE = 'the server was killed';

/** An app with volumes is stopped before the new one starts; one without runs on: what is left half done differs. */
const PLAIN_STEPS = ['created', 'ready', 'committed', 'switched', 'stopped'] as const;

/**
 * After these the engine has done something, or is about to, so they are tried on each engine. After the others only the
 * server's own rows and routes have changed, which is the same with every engine: one engine is enough for them.
 */
const STEPS_OF_ENGINES = new Set<DeployStep>([
  ...(['building', 'built', 'tagged', 'paused', 'created', 'started'] as const),
  ...(['committed', 'stopped', 'removed', 'forgotten'] as const),
]);

/** A server in a process of its own. */
interface Child {
  readonly process: ChildProcess;
  readonly steps: string[];
  readonly url: string;
  readonly ingress: number;
}

async function start(socket: string, folder: string): Promise<Child> {
  const child = fork(program, [socket, folder], {
    env: { ...process.env, TMPDIR: join(folder, 'tmp') },
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const steps: string[] = [];
  const told = new Promise<{ url: string; ingress: number }>((resolve, reject) => {
    child.on('message', (message: { step?: string; url?: string; ingress?: number }) => {
      if (message.step) steps.push(message.step);
      if (message.url) resolve({ url: message.url, ingress: message.ingress as number });
    });
    child.once('exit', () => reject(new Error('the server did not start')));
  });
  return { process: child, steps, ...(await told) };
}

/** Asks until the answer, or until the server is no more. */
async function call(
  { url }: Child,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; body: any }> {
  const form = body instanceof FormData;
  const init = {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && !form && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: form ? body : JSON.stringify(body) }),
  };
  try {
    const answer = await fetch(url + path, init as RequestInit);
    return { status: answer.status, body: await answer.json().catch(() => null) };
  } catch {
    return { status: 0, body: GONE };
  }
}

function visit(port: number, host: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, agent: false, headers: { host } }, (answer) => {
      let text = '';
      answer
        .setEncoding('utf8')
        .on('data', (chunk) => (text += chunk))
        .on('end', () => resolve(text));
    });
    sent.on('error', reject).end();
  });
}

describeEnginesAtOnce('a server that is killed', ({ kind, socket }) => {
  const folder = mkdtempSync(join(tmpdir(), 'tf-killed-'));
  let child: Child | undefined;
  let version = 1;

  const labelled = (kind: string, list: string) => async (instance: string) => {
    const filters = encodeURIComponent(JSON.stringify({ label: [`twofold.instance=${instance}`] }));
    const answer = await engineJson<any>(socket, { path: `/${kind}?all=1&filters=${filters}` });
    return (list === '' ? answer : (answer[list] ?? [])) as any[];
  };
  const containers = labelled('containers/json', '');
  const networks = labelled('networks', '');
  const volumes = labelled('volumes', 'Volumes');
  const upload = (name: string, page: string) =>
    sourceForm(
      {
        name,
        port: 8080,
        ...(name === 'kept' && { volumes: [{ name: 'data', path: '/data' }] }),
        aliases: [`also-${name}.test`],
      },
      tarGzOf({
        Dockerfile: 'FROM docker.io/twofold-test/web:1\nCOPY index.html /www/index.html\n',
        'index.html': page,
      }),
    );
  const instanceOf = () => {
    const database = new DatabaseSync(join(folder, 'data/app.db'), { readOnly: true });
    const row = database
      .prepare("SELECT value FROM hosting_settings WHERE key = 'instance'")
      .get() as { value: string };
    database.close();
    return row.value;
  };

  const tagsOf = async (instance: string, name: string) => {
    const images = await engineJson<{ RepoTags: string[] | null }[]>(socket, {
      path: '/images/json',
    });
    return images
      .flatMap(({ RepoTags }) => RepoTags ?? [])
      .filter((tag) => tag.startsWith(`localhost/twofold-${instance}/${name}:`))
      .map((tag) => Number(tag.split(':')[1]))
      .sort((a, b) => b - a);
  };

  /** What must be so after every start, whatever happened before it. @returns the version that serves. */
  const assertWhole = async (name: string, at: string): Promise<string> => {
    const app = (await call(child!, 'GET', `/api/apps/${name}`)).body;
    const { deployments } = (await call(child!, 'GET', `/api/apps/${name}/deployments`)).body;
    expect([
      at,
      deployments
        .filter(({ current }: any) => current)
        .map(({ number, status }: any) => [number, status]),
    ]).toEqual([at, [[app.deployment, 'healthy']]]);
    for (const { number, status, reason, current } of deployments) {
      if (!current)
        expect([
          at,
          number,
          status === 'superseded' || (status === 'failed' && /The server stopped/.test(reason)),
        ]).toEqual([at, number, true]);
    }
    const instance = instanceOf();
    const served = deployments
      .filter(({ status }: any) => status === 'healthy' || status === 'superseded')
      .map(({ number }: any) => number)
      .slice(0, 5);
    // A start does not wait for an engine that answers late, nor for an app; and the containers that served before may
    // still have requests: they end in the background, and their images after them.
    await vi.waitFor(
      async () =>
        expect([
          at,
          (await call(child!, 'GET', `/api/apps/${name}`)).body.status,
          (await containers(instance))
            .filter(({ Labels }) => Labels['twofold.name'] === name)
            .map(({ Labels, State }) => [Labels['twofold.deployment'], State]),
          await tagsOf(instance, name),
        ]).toEqual([at, 'running', [[String(app.deployment), 'running']], served]),
      { timeout: 60_000, interval: 200 },
    );
    expect([at, (await networks(instance)).length, (await volumes(instance)).length]).toEqual([
      at,
      1,
      1,
    ]);
    expect([
      at,
      readdirSync(join(folder, 'tmp')).filter((name) => /^twofold-(source|git)/.test(name)),
    ]).toEqual([at, []]);
    const note = (
      await call(child!, 'POST', '/api/apps/kept/exec', { command: ['cat', '/data/note'] })
    ).body;
    expect([at, note.stdout]).toEqual([at, 'kept\n']);
    expect(await visit(child!.ingress, `also-${name}.test`)).toBe(
      await visit(child!.ingress, `${name}.apps.test`),
    );
    return visit(child!.ingress, `${name}.apps.test`);
  };

  beforeAll(async () => {
    await importImage(socket, 'twofold-test/web:1');
    mkdirSync(join(folder, 'tmp'));
    child = await start(socket, folder);
    for (const name of ['kept', 'plain']) {
      const { status, body } = await call(
        child,
        'POST',
        '/api/deploy?wait=true',
        upload(name, 'version 1'),
      );
      expect([status, body.error]).toEqual([200, undefined]);
    }
    await call(child, 'POST', '/api/apps/kept/exec', {
      command: ['sh', '-c', 'echo kept > /data/note'],
    });
  });
  afterAll(async () => {
    if (child) {
      const ended = once(child.process, 'exit');
      child.process.kill('SIGKILL');
      await ended;
    }
    const server = await startServer({ socket, folder });
    await server.end();
    rmSync(folder, { recursive: true, force: true });
  });

  const cases = [
    ...DEPLOY_STEPS.map((step) => [step, 'kept'] as const),
    ...PLAIN_STEPS.map((step) => [step, 'plain'] as const),
  ].filter(([step]) => kind === 'docker' || STEPS_OF_ENGINES.has(step));

  it.each(cases)(
    'at "%s" of the app "%s" ends in the old or the new version, with nothing lost and nothing left over',
    async (step, name) => {
      // What an earlier try left dead is started first.
      if (child!.process.exitCode !== null || child!.process.signalCode !== null)
        child = await start(socket, folder);
      const old = await visit(child!.ingress, `${name}.apps.test`);
      const next = `version ${(version += 1)}`;
      const armed = once(child!.process, 'message');
      child!.process.send({ step });
      await armed;
      const ended = once(child!.process, 'exit');
      const answer = await call(child!, 'POST', '/api/deploy?wait=true', upload(name, next));
      // Old containers may be taken away after the answer.
      if (answer.body !== GONE)
        expect([answer.status, answer.body.error]).toEqual([200, undefined]);
      expect((await ended)[1]).toBe('SIGKILL');
      child = await start(socket, folder);
      const served = await assertWhole(name, step);
      const committed = DEPLOY_STEPS.indexOf(step) >= DEPLOY_STEPS.indexOf('committed');
      expect([step, served]).toEqual([step, committed ? next : old]);
    },
  );

  it('has gone through every step, and is well after all of them', async () => {
    child!.steps.length = 0;
    expect(
      (await call(child!, 'POST', '/api/deploy?wait=true', upload('kept', 'the last'))).status,
    ).toBe(200);
    expect(new Set(child!.steps)).toEqual(new Set(DEPLOY_STEPS));
    expect(await assertWhole('kept', 'at the end')).toBe('the last');
    expect((await callEngine(socket, { path: '/_ping' })).status).toBe(200);
  });
});
