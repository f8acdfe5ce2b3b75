import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../engines/available.ts';
import { engineJson } from '../engines/call-engine.ts';
import { importImage } from '../engines/import-image.ts';
import { startServer, token } from './server.ts';

const program = fileURLToPath(new URL('killable-server.ts', import.meta.url));

/** Large enough that a backup and a restore last much longer than the pause between two looks. */
const MIB = 192;

describeWith('docker', 'a server that is killed in its backups', () => {
  const socket = process.env['TEST_DOCKER_SOCKET'] as string;
  const folder = mkdtempSync(join(tmpdir(), 'tf-backup-killed-'));
  let child: ChildProcess;
  let url = '';

  const start = async () => {
    const env = { ...process.env, TMPDIR: join(folder, 'tmp') };
    child = fork(program, [socket, folder], {
      ...{ env, execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] },
    });
    for (url = ''; url === '';) {
      const [message] = (await once(child, 'message')) as [{ url?: string }];
      url = message.url ?? '';
    }
  };
  const kill = async () => {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  const api = async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: (await answer.json()) as any };
  };
  const exec = async (command: string) => {
    const { body } = await api('POST', '/api/apps/shop/exec', { command: ['sh', '-c', command] });
    expect(body).toMatchObject({ exit_code: 0 });
    return body.stdout as string;
  };
  const rows = (statement: string) => {
    const database = new DatabaseSync(join(folder, 'data/app.db'), { readOnly: true });
    const found = database.prepare(statement).all() as Record<string, string>[];
    database.close();
    return found;
  };
  const until = async (is: () => boolean) => {
    while (!is()) await new Promise((resolve) => setTimeout(resolve, 2));
  };
  const instance = () =>
    rows("SELECT value FROM hosting_settings WHERE key = 'instance'")[0]!['value'];
  const stored = () => join(folder, 'data/backups', instance()!, 'shop');
  const parts = () =>
    existsSync(stored()) ? readdirSync(stored()).filter((name) => name.endsWith('.part')) : [];
  /** Containers of backups, which open the files of a volume. */
  const helpers = async () => {
    const labels = [`twofold.instance=${instance()}`, 'twofold.task=backup'];
    const filters = encodeURIComponent(JSON.stringify({ label: labels }));
    return engineJson<any[]>(socket, { path: `/containers/json?all=1&filters=${filters}` });
  };
  const DATA = 'cd /data && cat version && sha256sum big | cut -c 1-64';

  beforeAll(async () => {
    await importImage(socket, 'twofold-test/web:1');
    mkdirSync(join(folder, 'tmp'));
    await start();
    const created = await api('POST', '/api/apps', {
      name: 'shop',
      image: 'docker.io/twofold-test/web:1',
      volumes: [{ name: 'data', path: '/data' }],
    });
    expect([created.status, created.body.error]).toEqual([201, undefined]);
    await exec(`cd /data && head -c ${MIB * 1048576} /dev/urandom > big && echo first > version`);
  });
  afterAll(async () => {
    if (child.exitCode === null && child.signalCode === null) await kill();
    const server = await startServer({ socket, folder });
    await server.end();
  });

  it('says failed for a backup that was cut, and removes its bytes', async () => {
    const { body } = await api('POST', '/api/apps/shop/backups');
    const half = () => parts().some((name) => statSync(join(stored(), name)).size > 8 * 1048576);
    await until(half);
    await kill();
    expect(parts()).toHaveLength(1);
    await start();
    const after = (await api('GET', `/api/apps/shop/backups/${body.id}`)).body;
    expect(after).toMatchObject({
      ...{ status: 'failed', error: 'The server stopped during this backup', bytes: null },
    });
    expect(readdirSync(stored())).toEqual([]);
    await expect.poll(helpers, { timeout: 20_000 }).toEqual([]);
    expect(await exec('cat /data/version')).toBe('first\n');
  });

  it('leaves an app stopped whose restore was cut, and both backups whole', async () => {
    const first = (await api('POST', '/api/apps/shop/backups?wait=true')).body;
    expect(first.status).toBe('done');
    const before = await exec(DATA);
    await exec('cd /data && echo second > version && dd if=/dev/zero of=big bs=1024 count=1');
    const changed = await exec(DATA);
    const restore = (id: string) =>
      api('POST', `/api/apps/shop/backups/${id}/restore?wait=true`, { confirm: 'shop' });
    const cut = restore(first.id).catch(() => 'cut');
    // What is there is backed up then, and the volume is being filled.
    const filling = () =>
      rows("SELECT value FROM hosting_settings WHERE key LIKE 'restore:%'").some(
        ({ value }) => JSON.parse(value!).before !== null,
      );
    await until(filling);
    await kill();
    expect(await cut).toBe('cut');
    await start();
    const app = (await api('GET', '/api/apps/shop')).body;
    const [kept] = (await api('GET', '/api/apps/shop/backups')).body.backups;
    expect(app).toMatchObject({
      status: 'failed',
      error: `The server stopped while it restored backup ${first.id}: restore it again, or ${kept.id}, which is what was there before`,
    });
    await expect.poll(helpers, { timeout: 20_000 }).toEqual([]);
    for (const [id, data] of [
      [kept.id, changed],
      [first.id, before],
    ]) {
      expect((await restore(id)).status).toBe(200);
      expect(await exec(DATA)).toBe(data);
    }
  });
});
