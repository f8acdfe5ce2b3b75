import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeEachEngine } from '../engines/available.ts';
import { importImage } from '../engines/import-image.ts';
import { sourceForm, tarGzOf } from './archives.ts';
import { startReceiver } from './notification-receiver.ts';
import { ACCESS_KEY, SECRET_KEY, startS3 } from './s3-server.ts';
import { startServer, type TestServer } from './server.ts';

const EACH_SECOND = '* * * * * *';
/** Says when it was ended, and when it began. */
const SAYS = `httpd -p 8080 -h /www
trap 'echo ended > /data/ended; exit 0' TERM
echo began >> /data/began
sleep 3600 & wait`;

describeEachEngine('scheduled backups', ({ socket }) => {
  let server: TestServer;
  let image: string;
  const lines: string[] = [];
  const api = (method: string, path: string, body?: unknown) => server.api(method, path, body);
  const backupsOf = async (name: string): Promise<any[]> =>
    (await api('GET', `/api/apps/${name}/backups`)).body.backups;
  const volumes = [{ name: 'data', path: '/data' }];

  beforeAll(async () => {
    image = await importImage(socket, 'twofold-test/web:1');
    server = await startServer({ socket, logTo: { write: (line) => void lines.push(line) } });
  });
  afterAll(() => server?.end());

  it('and drills of the same moment wait for each other', async () => {
    await api('POST', '/api/apps', { name: 'both', image, volumes });
    await api('PATCH', '/api/apps/both', { backup: { schedule: EACH_SECOND, drill: EACH_SECOND } });
    const counts = async () => {
      const all = await backupsOf('both');
      return [all.length > 2, all.some(({ verified_at }) => verified_at !== null)];
    };
    await expect.poll(counts, { timeout: 60_000 }).toEqual([true, true]);
    await api('PATCH', '/api/apps/both', { backup: { schedule: null, drill: null } });
    expect(lines.filter((line) => line.includes('does not start'))).toEqual([]);
  });

  it('go to a target that exists: another one is refused, and the targets are named', async () => {
    const backup = { target: 'typo' };
    const refusals = [
      await api('POST', '/api/apps', { name: 'typo', image, backup }),
      await api('PATCH', '/api/apps/both', { backup }),
      await api(
        'POST',
        '/api/deploy?wait=true',
        sourceForm({ name: 'typo', backup }, tarGzOf({ 'index.html': 'hello' })),
      ),
    ];
    expect(refusals.map(({ status, body }) => [status, body.error])).toEqual(
      refusals.map(() => [422, expect.stringMatching(/backup.target typo .*: add|are local: add/)]),
    );
    expect((await api('GET', '/api/apps/typo')).status).toBe(404);
    expect((await api('GET', '/api/apps/both')).body.backup.target).toBe('local');
  });

  it('are recorded as failed and reported when their target is gone', async () => {
    const receiver = await startReceiver();
    await api('PUT', '/api/notifications/ops', {
      ...{ kind: 'webhook', url: receiver.url, events: ['backup.failed'] },
    });
    await api('POST', '/api/apps', { name: 'gone', image, volumes });
    const path = `${server.folder}/second`;
    await api('PUT', '/api/backup-targets/second', { kind: 'local', path });
    const { db } = server.kernel.store;
    expect((await api('PATCH', '/api/apps/gone', { backup: { target: 'second' } })).status).toBe(
      200,
    );
    await db.deleteFrom('hosting_backup_targets').where('name', '=', 'second').execute();
    expect((await api('POST', '/api/apps/gone/backups')).status).toBe(404);
    expect(await backupsOf('gone')).toEqual([]);
    await api('PATCH', '/api/apps/gone', { backup: { schedule: EACH_SECOND } });
    await expect
      .poll(async () => (await backupsOf('gone'))[0], { timeout: 20_000 })
      .toMatchObject({
        ...{ target: 'second', status: 'failed', error: 'Backup target second not found' },
      });
    await api('PATCH', '/api/apps/gone', { backup: { schedule: null } });
    await expect.poll(() => receiver.deliveries.length, { timeout: 20_000 }).toBe(1);
    expect(receiver.deliveries[0]?.body).toMatchObject({ type: 'backup.failed', app: 'gone' });
    const [{ id }] = (await backupsOf('gone')) as [{ id: string }];
    expect((await api('DELETE', `/api/apps/gone/backups/${id}`)).status).toBe(200);
    await receiver.close();
  });

  it('stop their app meanwhile if they shall, and start it again', async () => {
    const command = ['sh', '-c', SAYS];
    const backup = { stop: true };
    await api('POST', '/api/apps', { name: 'paused', image, command, volumes, backup });
    const exec = async (name: string, words: string) =>
      (await api('POST', `/api/apps/${name}/exec`, { command: ['sh', '-c', words] })).body.stdout;
    expect(await exec('paused', 'ls /data')).toBe('began\n');
    const made = await api('POST', '/api/apps/paused/backups?wait=true');
    expect([made.status, made.body.status, made.body.error]).toEqual([200, 'done', null]);
    expect((await api('GET', '/api/apps/paused')).body.status).toBe('running');
    expect(await exec('paused', 'cat /data/*')).toBe('began\nbegan\nended\n');
    // What was archived is what the app had left when it was stopped.
    const path = `/api/apps/paused/backups/${made.body.id}/restore?wait=true`;
    expect((await api('POST', path, { into: 'beside' })).status).toBe(200);
    expect(await exec('beside', 'cat /data/ended')).toBe('ended\n');
  });

  it('that cannot stop their app are failed, and not left running', async () => {
    const slow = api('PATCH', '/api/apps/paused?apply=true', {
      command: ['sh', '-c', `sleep 3; ${SAYS}`],
    });
    await expect.poll(async () => (await api('POST', '/api/apps/paused/restart')).status).toBe(409);
    const { body } = await api('POST', '/api/apps/paused/backups?wait=true');
    expect(body).toMatchObject({
      ...{ status: 'failed', error: expect.stringContaining('Another operation') },
    });
    expect((await slow).status).toBe(200);
  });

  it('go to a bucket that was tried before it is kept, and whose keys are never shown', async () => {
    const s3 = await startS3();
    const fields = {
      ...{ kind: 's3', endpoint: s3.endpoint, bucket: 'backups', region: 'eu-test-1' },
      ...{ path_style: true, access_key_id: ACCESS_KEY, secret_access_key: SECRET_KEY },
    };
    const put = (change: object) =>
      api('PUT', '/api/backup-targets/bucket', { ...fields, ...change });
    const wrong = await put({ secret_access_key: 'a wrong key' });
    expect([wrong.status, wrong.body.error]).toEqual([
      422,
      expect.stringContaining('SignatureDoesNotMatch'),
    ]);
    expect((await api('GET', '/api/backup-targets')).body.total).toBe(1);
    const shown = {
      ...{ name: 'bucket', kind: 's3', endpoint: s3.endpoint, bucket: 'backups' },
      ...{ region: 'eu-test-1', path_style: true },
    };
    const kept = await put({});
    expect([kept.status, kept.body]).toEqual([200, shown]);
    const { targets } = (await api('GET', '/api/backup-targets')).body;
    expect(targets[1]).toEqual(shown);
    const rows = await server.kernel.store.db
      .selectFrom('hosting_backup_targets')
      .selectAll()
      .execute();
    expect(JSON.stringify(rows)).not.toMatch(new RegExp(`${ACCESS_KEY}|${SECRET_KEY}`));
    const backup = { target: 'bucket', stop: false };
    expect((await api('PATCH', '/api/apps/both', { backup })).status).toBe(200);
    const made = await api('POST', '/api/apps/both/backups?wait=true');
    expect([made.body.status, s3.objects.size]).toEqual(['done', 1]);
    const verified = `/api/apps/both/backups/${made.body.id}/verify?wait=true`;
    expect((await api('POST', verified)).body.error).toBe(null);
    await s3.close();
  });
});
