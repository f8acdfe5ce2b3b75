import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeEachEngine } from '../engines/available.ts';
import { callEngine, engineJson } from '../engines/call-engine.ts';
import { importImage } from '../engines/import-image.ts';
import { startServer, type TestServer } from './server.ts';

/** What an app sees of its files: names, owners, modes, content. */
const LOOK =
  'cd /data && find . | sort | while read f; do stat -c \'%n %u:%g %a %F\' "$f"; done && find . -type f | sort | while read f; do sha256sum "$f"; done && readlink soft';

describeEachEngine('backups', ({ socket }) => {
  let server: TestServer;
  let instance = '';
  const api = (method: string, path: string, body?: unknown) => server.api(method, path, body);
  const exec = async (name: string, command: string) => {
    const { body } = await api('POST', `/api/apps/${name}/exec`, {
      command: ['sh', '-c', command],
    });
    expect(body).toMatchObject({ exit_code: 0 });
    return body.stdout as string;
  };
  const backUp = async (name: string) => {
    const { status, body } = await api('POST', `/api/apps/${name}/backups?wait=true`);
    expect([status, body.error]).toEqual([200, null]);
    return body;
  };
  const restore = (name: string, id: string, confirm = name) =>
    api('POST', `/api/apps/${name}/backups/${id}/restore?wait=true`, { confirm });
  const fileOf = (id: string) => {
    const folder = join(server.folder, 'data/backups', instance, 'shop');
    return join(
      folder,
      readdirSync(folder).find((name) => name.includes(id))!,
    );
  };
  const flip = (path: string, at: number) => {
    const bytes = readFileSync(path);
    bytes[at] = bytes[at]! ^ 1;
    writeFileSync(path, bytes);
  };
  const leftovers = async () => {
    const filters = encodeURIComponent(
      JSON.stringify({ label: ['twofold.task=backup', `twofold.instance=${instance}`] }),
    );
    const lists = await Promise.all(
      ['containers/json?all=1&', 'networks?', 'volumes?'].map((path) =>
        engineJson<any>(socket, { path: `/${path}filters=${filters}` }),
      ),
    );
    return lists
      .flatMap((list) => list.Volumes ?? (Array.isArray(list) ? list : []))
      .filter(({ Labels }) => Labels?.['twofold.task'] === 'backup')
      .filter(({ Labels }) => Labels['twofold.instance'] === instance);
  };

  beforeAll(async () => {
    await importImage(socket, 'twofold-test/web:1');
    server = await startServer({ socket });
    const created = await api('POST', '/api/apps', {
      name: 'shop',
      image: 'docker.io/twofold-test/web:1',
      volumes: [{ name: 'data', path: '/data' }],
    });
    expect([created.status, created.body.error]).toEqual([201, undefined]);
    await exec(
      'shop',
      `cd /data && mkdir -p a/b empty && head -c 3000000 /dev/urandom > a/b/big && echo hello > a/note && : > none
       ln a/note hard && ln -s a/note soft && touch "a/with space" a/ümlaut && mkfifo pipe
       chmod 640 a/note && chown 1000:1000 a/b a/b/big . && chmod 700 .`,
    );
    instance = await instanceOf(server);
  });
  afterAll(() => server?.end());

  it('bring a deleted volume back byte by byte, with owners, modes and links', async () => {
    const before = await exec('shop', LOOK);
    const backup = await backUp('shop');
    expect(backup).toMatchObject({ app: 'shop', target: 'local', status: 'done' });
    const bytes = readFileSync(fileOf(backup.id));
    expect([backup.bytes, backup.sha256]).toEqual([
      bytes.length,
      createHash('sha256').update(bytes).digest('hex'),
    ]);
    expect(statSync(fileOf(backup.id)).mode & 0o777).toBe(0o600);

    const volume = `twofold-${instance}-shop-data`;
    for (const { Id } of await engineJson<any[]>(socket, {
      path: `/containers/json?all=1&filters=${encodeURIComponent(JSON.stringify({ volume: [volume] }))}`,
    }))
      await callEngine(socket, { method: 'DELETE', path: `/containers/${Id}?force=1` });
    const gone = await callEngine(socket, { method: 'DELETE', path: `/volumes/${volume}?force=1` });
    expect(gone.status).toBe(204);

    const answer = await restore('shop', backup.id);
    expect([answer.status, answer.body]).toEqual([
      200,
      { app: 'shop', backup: backup.id, status: 'done' },
    ]);
    expect((await api('GET', '/api/apps/shop')).body.status).toBe('running');
    expect(await exec('shop', LOOK)).toBe(before);
  });

  it('back up what a restore replaces', async () => {
    await exec('shop', 'echo first > /data/version');
    const first = await backUp('shop');
    await exec('shop', 'echo second > /data/version; echo new > /data/new');
    expect((await restore('shop', first.id)).status).toBe(200);
    expect(await exec('shop', 'cat /data/version; ls /data/new 2>/dev/null || true')).toBe(
      'first\n',
    );
    const [kept] = (await api('GET', '/api/apps/shop/backups')).body.backups;
    expect((await restore('shop', kept.id)).status).toBe(200);
    expect(await exec('shop', 'cat /data/version /data/new')).toBe('second\nnew\n');
  });

  it('are verified in a throwaway copy, of which nothing is left', async () => {
    const { id } = await backUp('shop');
    const { status, body } = await api('POST', `/api/apps/shop/backups/${id}/verify?wait=true`);
    expect([status, body.error]).toEqual([200, null]);
    expect(Date.parse(body.verified_at)).toBeGreaterThan(Date.parse(body.finished_at));
    expect(await leftovers()).toEqual([]);
    expect((await api('GET', '/api/apps')).body.total).toBe(1);
  });

  it('find a byte that flipped, wherever it is, and then change nothing', async () => {
    const before = await exec('shop', LOOK);
    const { id, bytes } = await backUp('shop');
    for (const at of [0, 600, bytes >> 1, bytes - 1]) {
      flip(fileOf(id), at);
      const { body } = await api('POST', `/api/apps/shop/backups/${id}/verify?wait=true`);
      expect([at, body.verified_at, body.error]).toEqual([
        at,
        null,
        expect.stringContaining('The backup is damaged'),
      ]);
      const answer = await restore('shop', id);
      expect([at, answer.status, answer.body.error]).toEqual([
        at,
        422,
        expect.stringContaining('The backup is damaged'),
      ]);
      flip(fileOf(id), at);
    }
    expect(await exec('shop', LOOK)).toBe(before);
    expect((await api('GET', '/api/apps/shop')).body).toMatchObject({
      status: 'running',
      error: expect.stringContaining(`Backup ${id} was not restored`),
    });
    const { body } = await api('POST', `/api/apps/shop/backups/${id}/verify?wait=true`);
    expect([body.error, typeof body.verified_at]).toEqual([null, 'string']);
  });

  it('go to a second folder, which is tried before it is kept, and can be deleted', async () => {
    const path = join(server.folder, 'elsewhere');
    const target = { kind: 'local', path };
    const bad = await api('PUT', '/api/backup-targets/second', { kind: 'local', path: '/proc/no' });
    expect(bad.status).toBe(422);
    expect((await api('PUT', '/api/backup-targets/local', target)).status).toBe(400);
    expect(await api('PUT', '/api/backup-targets/second', target)).toMatchObject({
      status: 200,
      body: { name: 'second', ...target },
    });
    const { targets } = (await api('GET', '/api/backup-targets')).body;
    expect(targets.map(({ name }: { name: string }) => name)).toEqual(['local', 'second']);

    await api('PATCH', '/api/apps/shop', { backup: { target: 'second' } });
    const backup = await backUp('shop');
    expect(backup.target).toBe('second');
    expect(readdirSync(join(path, instance, 'shop'))).toHaveLength(1);
    await api('PATCH', '/api/apps/shop', { backup: { target: 'local' } });
    expect((await api('DELETE', '/api/backup-targets/second')).status).toBe(409);
    expect(await api('GET', `/api/apps/shop/backups/${backup.id}`)).toMatchObject({ body: backup });
    expect((await api('DELETE', `/api/apps/shop/backups/${backup.id}`)).status).toBe(200);
    expect(readdirSync(join(path, instance, 'shop'))).toEqual([]);
    expect((await api('DELETE', '/api/backup-targets/second')).status).toBe(200);
    expect((await api('DELETE', '/api/backup-targets/second')).status).toBe(404);
  });

  it('go with their tasks: what a killed server has left, and no volume of an app', async () => {
    const other = `twofold-${instance}-left-behind`;
    const labels = { 'twofold.instance': instance, 'twofold.task': 'backup' };
    const body = { Name: other, Labels: labels };
    await callEngine(socket, { method: 'POST', path: '/volumes/create', json: body });
    // What a kill in the middle of a backup leaves: its record, and half of its bytes.
    const object = `${instance}/shop/half.tar`;
    const half = join(server.folder, 'data/backups', `${object}.part`);
    const key = { id: 'half', app: 'shop', target: 'local', object, status: 'running' };
    const row = { ...key, started_at: new Date().toISOString() };
    await server.kernel.store.db.insertInto('hosting_backups').values(row).execute();
    writeFileSync(half, 'half');
    await server.stop();
    const BACKUP_KEY = randomBytes(32).toString('base64');
    server = await startServer({ socket, folder: server.folder, env: { BACKUP_KEY } });
    expect((await api('GET', '/api/apps/shop/backups/half')).body).toMatchObject({
      ...{ status: 'failed', error: 'The server stopped during this backup', bytes: null },
    });
    expect(existsSync(half)).toBe(false);
    const gone = async () =>
      (await callEngine(socket, { path: `/volumes/${other}` })).status === 404;
    while (!(await gone())) await new Promise((resolve) => setTimeout(resolve, 100));
    const kept = await callEngine(socket, { path: `/volumes/twofold-${instance}-shop-data` });
    expect(kept.status).toBe(200);
  });

  it('are encrypted with a key, and those from before can still be restored', async () => {
    const { backups } = (await api('GET', '/api/apps/shop/backups')).body;
    const plain = backups.find(({ status }: { status: string }) => status === 'done');
    expect(readFileSync(fileOf(plain.id)).includes('backup.json')).toBe(true);
    const before = await exec('shop', LOOK);
    const sealed = await backUp('shop');
    const bytes = readFileSync(fileOf(sealed.id));
    expect(bytes.subarray(0, 16).toString()).toBe('TWOFOLD-BACKUP-1');
    expect(bytes.includes('backup.json') || bytes.includes('with space')).toBe(false);
    expect((await restore('shop', plain.id)).status).toBe(200);
    expect((await restore('shop', sealed.id)).status).toBe(200);
    expect(await exec('shop', LOOK)).toBe(before);
  });

  it('make a new app beside the old one, with its values and without what is done once', async () => {
    await api('PATCH', '/api/apps/shop', {
      cron: [{ name: 'nightly', schedule: '0 3 * * *', command: ['true'] }],
      backup: { schedule: '0 4 * * *' },
    });
    await api('PUT', '/api/apps/shop/env', { COLOR: 'blue' });
    await exec('shop', 'echo old > /data/version');
    const { id } = await backUp('shop');
    await exec('shop', 'echo new > /data/version');
    const path = `/api/apps/shop/backups/${id}/restore?wait=true`;
    const answer = await api('POST', path, { into: 'beside' });
    expect([answer.status, answer.body]).toEqual([
      200,
      { app: 'beside', backup: id, status: 'done' },
    ]);
    expect(await exec('beside', 'cat /data/version; echo $COLOR')).toBe('old\nblue\n');
    expect(await exec('shop', 'cat /data/version')).toBe('new\n');
    const { body } = await api('GET', '/api/apps/beside');
    expect([body.status, body.domain, body.cron, body.backup.schedule]).toEqual([
      ...['running', 'beside.apps.test', [], null],
    ]);
    expect((await server.visit('beside.apps.test')).status).toBe(200);
    expect((await api('POST', path, { into: 'beside' })).status).toBe(409);
    expect((await api('POST', path, { into: 'Not a name' })).status).toBe(400);
    expect((await api('POST', path, {})).status).toBe(400);
    expect((await api('POST', path, { into: 'x', confirm: 'shop' })).status).toBe(400);
    const gone = await api('DELETE', '/api/apps/beside?volumes=true');
    expect(gone.status).toBe(200);
    // A damaged one leaves no app.
    flip(fileOf(id), 700);
    expect((await api('POST', path, { into: 'beside' })).status).toBe(422);
    expect((await api('GET', '/api/apps/beside')).status).toBe(404);
  });

  it('are not deleted while they are restored', async () => {
    const { id } = await backUp('shop');
    const restored = api('POST', `/api/apps/shop/backups/${id}/restore?wait=true`, {
      confirm: 'shop',
    });
    while ((await api('GET', '/api/apps/shop')).body.status === 'running');
    expect((await api('DELETE', `/api/apps/shop/backups/${id}`)).status).toBe(409);
    expect((await restored).status).toBe(200);
    expect((await api('DELETE', `/api/apps/shop/backups/${id}`)).status).toBe(200);
  });

  it('of the server itself want a key, and a target that exists', async () => {
    const list = await api('GET', '/api/system/backups');
    expect(list.body).toEqual({ backups: [], total: 0 });
    expect((await api('GET', '/api/system/backups/none')).status).toBe(404);
    expect((await api('DELETE', '/api/system/backups/none')).status).toBe(404);
    expect((await api('POST', '/api/system/backups', {})).status).toBe(400);
    const bare = await startServer({ socket });
    const refused = await bare.api('POST', '/api/system/backups', { target: 'local' });
    expect([refused.status, refused.body.error]).toEqual([
      400,
      expect.stringContaining('set BACKUP_KEY'),
    ]);
    await bare.end();
  });

  it('are refused for a wrong name, without data, and twice at a time', async () => {
    const { id } = await backUp('shop');
    expect((await restore('shop', id, 'other')).status).toBe(400);
    expect((await restore('shop', 'ffff')).status).toBe(404);
    await api('POST', '/api/apps', { name: 'plain', image: 'docker.io/twofold-test/web:1' });
    expect((await api('POST', '/api/apps/plain/backups')).status).toBe(400);
    const both = await Promise.all([1, 2].map(() => api('POST', '/api/apps/shop/backups')));
    expect(both.map(({ status }) => status).sort()).toEqual([202, 409]);
    expect((await api('POST', '/api/apps/none/backups')).status).toBe(404);
  });

  it('end with their app, and outlive it as records', async () => {
    const created = await api('POST', '/api/apps', {
      name: 'brief',
      image: 'docker.io/twofold-test/web:1',
      volumes: [{ name: 'data', path: '/data' }],
    });
    expect(created.status).toBe(201);
    await exec('brief', 'head -c 200000000 /dev/zero > /data/zeros');
    const { body } = await api('POST', '/api/apps/brief/backups');
    expect((await api('DELETE', '/api/apps/brief?volumes=true')).status).toBe(200);
    const list = (await api('GET', '/api/apps/brief/backups')).body;
    expect(list.backups).toMatchObject([
      { id: body.id, status: 'failed', error: 'The backup was cancelled' },
    ]);
    expect(readdirSync(join(server.folder, 'data/backups', instance, 'brief'))).toEqual([]);
    expect(await leftovers()).toEqual([]);
  });
});

async function instanceOf({ kernel }: TestServer): Promise<string> {
  const { value } = (await kernel.store.db
    .selectFrom('hosting_settings')
    .select('value')
    .where('key', '=', 'instance')
    .executeTakeFirstOrThrow()) as { value: string };
  return value;
}
