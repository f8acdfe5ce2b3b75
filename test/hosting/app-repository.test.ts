import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { migrate } from '../../runtime/database/migrations/migrate.ts';
import { openStore } from '../../runtime/core/store/open-store.ts';
import { createAppRepository } from '../../runtime/hosting/records/app-repository.ts';
import { newSpec } from '../../runtime/hosting/records/fields.ts';
import { hostingMigrations } from '../../runtime/hosting/records/migrations.ts';
import { createSeal } from '../../runtime/hosting/records/seal.ts';
import { createDatabase } from '../engines/available.ts';
import { databases } from '../graphql/harness.ts';
import { testModel } from './server.ts';

describe.each(databases)('the apps in memory, on %s', (database) => {
  let folder: string;
  let drop: (() => Promise<void>) | undefined;
  let apps: ReturnType<typeof createAppRepository>;
  let close: () => Promise<void>;
  const repository = async (url: string) => {
    const store = openStore(url, folder);
    await migrate(store, hostingMigrations);
    close = () => store.close();
    const seal = createSeal(['a secret of thirty-two bytes or more']);
    return createAppRepository({ store, seal, now: Date.now });
  };
  const made = (name: string) =>
    apps.insert({ name, spec: newSpec(name, {}, testModel()), env: {} });

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tf-apps-'));
    const server = database === 'postgres' ? await createDatabase() : undefined;
    drop = server?.drop;
    apps = await repository(server?.url ?? 'file:app.db');
  });
  afterEach(async () => {
    await close();
    await drop?.();
    rmSync(folder, { recursive: true, force: true });
  });

  it('do not have an app again whose change ended after its removal', async () => {
    for (const first of ['update', 'remove']) {
      const { id } = await made('shop');
      const change = () => apps.update(id, { status: 'stopped' }).catch(() => null);
      const ways = {
        update: [change, () => apps.remove(id)],
        remove: [() => apps.remove(id), change],
      };
      await Promise.all(ways[first as 'update'].map((begin) => begin()));
      expect([first, apps.all()]).toEqual([first, []]);
    }
  });

  it('have both of two changes at once, as the database has', async () => {
    const { id, spec } = await made('shop');
    await Promise.all([
      apps.update(id, { spec: { ...spec, port: 3000 } }),
      apps.update(id, { status: 'running' }),
      apps.update(id, { restarts: 3 }),
    ]);
    const inMemory = apps.byId(id);
    expect([inMemory?.spec.port, inMemory?.status, inMemory?.restarts]).toEqual([
      3000,
      'running',
      3,
    ]);
    await apps.load();
    expect(apps.byId(id)).toEqual(inMemory);
  });

  it('have a change at once, for who makes the next one from it', async () => {
    const { id, spec } = await made('shop');
    const first = apps.update(id, { spec: { ...spec, port: 3000 } });
    const second = apps.update(id, { spec: { ...apps.byId(id)!.spec, replicas: 2 } });
    await Promise.all([first, second]);
    await apps.load();
    expect([apps.byId(id)?.spec.port, apps.byId(id)?.spec.replicas]).toEqual([3000, 2]);
  });

  it('are not older than a change that is made while they are read', async () => {
    const { id } = await made('shop');
    await Promise.all([apps.load(), apps.update(id, { restarts: 1 }), made('other'), apps.load()]);
    expect(apps.all().map(({ name, restarts }) => [name, restarts])).toEqual([
      ['other', 0],
      ['shop', 1],
    ]);
  });

  it('have what they had when a change is refused', async () => {
    const { spec } = await made('shop');
    const { id } = await made('other');
    const taken = { ...newSpec('other', {}, testModel()), domain: spec.domain };
    await expect(apps.update(id, { spec: taken })).rejects.toMatchObject({ status: 409 });
    expect(apps.byId(id)?.spec.domain).toBe('other.apps.test');
  });
});
