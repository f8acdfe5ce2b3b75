import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { RUN_STEPS } from '../../../runtime/hosting/host/steps.ts';
import { describeEachEngine } from '../../engines/available.ts';
import { engineJson } from '../../engines/call-engine.ts';
import { importImage } from '../../engines/import-image.ts';
import { startServer, token } from '../server.ts';

/** Half of the steps on each engine: a restart takes seconds. */
const stepsOn = (kind: string) => RUN_STEPS.filter((_, i) => i % 2 === (kind === 'docker' ? 0 : 1));

const program = fileURLToPath(new URL('../killable-server.ts', import.meta.url));

describeEachEngine('runs of a server that is killed', ({ kind, socket }) => {
  const folder = mkdtempSync(join(tmpdir(), 'tf-run-killed-'));
  let child: ChildProcess;
  let url = '';

  const start = async () => {
    child = fork(program, [socket, folder], {
      env: { ...process.env, TMPDIR: join(folder, 'tmp') },
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    url = await new Promise<string>((resolve, reject) => {
      child.on('message', (message: { url?: string }) => message.url && resolve(message.url));
      child.once('exit', () => reject(new Error('the server did not start')));
    });
  };
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(`${url}/api/apps${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return answer.json() as Promise<any>;
  };
  /** Asks until it is so, however long a busy machine takes. */
  const settled = (read: () => Promise<unknown>) =>
    expect.poll(read, { timeout: 30_000, interval: 100 });

  beforeAll(async () => {
    mkdirSync(join(folder, 'tmp'));
    const image = await importImage(socket, 'twofold-test/web:1');
    await start();
    const volumes = [{ name: 'data', path: '/data' }];
    expect((await call('POST', '', { name: 'shop', image, volumes })).status).toBe('running');
  });
  afterAll(async () => {
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    const last = await startServer({ socket, folder });
    await last.end();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each(stepsOn(kind))('begin once and end, when it was after the step %s', async (step) => {
    const exited = once(child, 'exit');
    const armed = once(child, 'message');
    child.send({ step });
    await armed;
    const command = ['sh', '-c', 'echo $TWOFOLD_RUN >> /data/begun; sleep 0.5; echo over'];
    await call('POST', '/shop/runs?wait=true', { command }).catch(() => {});
    await exited;
    await start();
    await settled(async () => (await call('GET', '/shop/runs?status=running')).total).toBe(0);
    const [run] = (await call('GET', '/shop/runs')).runs;
    expect(run).toMatchObject({ status: 'done', exit_code: 0 });
    const { stdout } = await call('POST', '/shop/exec', { command: ['cat', '/data/begun'] });
    expect(stdout.split('\n').filter((line: string) => line === run.id)).toEqual([run.id]);
    const filters = encodeURIComponent(JSON.stringify({ label: [`twofold.run=${run.id}`] }));
    const path = `/containers/json?all=1&filters=${filters}`;
    await settled(() => engineJson(socket, { path })).toEqual([]);
  });
});
