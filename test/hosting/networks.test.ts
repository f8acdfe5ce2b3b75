import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectEngine } from '../../runtime/hosting/engine/connect.ts';
import { describeEachEngine } from '../engines/available.ts';
import { callEngine, engineJson } from '../engines/call-engine.ts';
import { containersOf } from './containers-of.ts';
import { importImage } from '../engines/import-image.ts';
import { driverOf } from './driver.ts';
import { startServer, type TestServer } from './server.ts';

interface Network {
  readonly Id: string;
  readonly Name: string;
  readonly Labels: Record<string, string>;
}

/** Calls that look at the engine first and then change it, several at the same moment. */
describeEachEngine('what several make at once', ({ socket }) => {
  const { driver, labels, network, spec, state } = driverOf(socket);
  const named = async (name: string) =>
    (await engineJson<Network[]>(socket, { path: '/networks' })).filter(
      ({ Name }) => Name === name,
    );
  const started = async (name: string, more: object) => {
    const id = await driver.engine.create(spec(name, { aliases: [name], ...more }));
    await driver.engine.start(id);
    return id;
  };
  const reaches = async (id: string, host: string) => {
    const command = ['timeout', '3', 'wget', '-q', '-O', '-', `http://${host}:8080/`];
    return (await driver.engine.exec(id, command, { timeout: 5000, limit: 1000 })).stdout;
  };

  it('a network of two processes is one, and their containers reach each other', async () => {
    const other = await connectEngine({ kind: 'auto', socket }, {});
    for (let round = 0; round < 3; round += 1) {
      const name = `${network}-${driver.turn}-race${round}`;
      const [a, b] = await Promise.all(
        [driver.engine, other].map(async (engine, index) => {
          await engine.ensureNetwork(name, labels);
          const id = await engine.create(
            spec(`race${round}-${index}`, { network: name, aliases: [`race${index}`] }),
          );
          await engine.start(id);
          return id;
        }),
      );
      expect((await named(name)).length).toBe(1);
      await expect.poll(() => reaches(a!, 'race1'), { timeout: 20_000 }).toBe('version 1\n');
      for (const id of [a!, b!]) await driver.engine.remove(id);
      await driver.engine.removeNetwork(name, labels);
    }
  });

  it('a network and a volume that are removed and wanted at the same moment are there', async () => {
    const name = `${network}-${driver.turn}-wanted`;
    for (let round = 0; round < 3; round += 1) {
      let wanted = false;
      await driver.engine.ensureNetwork(name, labels);
      await driver.engine.ensureVolume(name, labels);
      const removed = [
        driver.engine.removeNetwork(name, labels, () => wanted),
        driver.engine.removeVolume(name, () => wanted),
      ];
      wanted = round % 2 === 0;
      await Promise.all([
        driver.engine.ensureNetwork(name, labels),
        driver.engine.ensureVolume(name, labels),
      ]);
      const volumes = [{ volume: name, path: '/data' }];
      const id = await started(`wanted${round}`, { network: name, volumes });
      await Promise.all(removed);
      expect([await state(id), await driver.engine.volumeLabels(name)]).toEqual([
        'running',
        labels,
      ]);
      await driver.engine.remove(id);
      await driver.engine.removeNetwork(name, labels);
      await driver.engine.removeVolume(name);
      expect([await named(name), await driver.engine.volumeLabels(name)]).toEqual([[], null]);
    }
  });

  it('a volume of another program is not taken for ours', async () => {
    const name = `${network}-${driver.turn}-foreign`;
    await callEngine(socket, { method: 'POST', path: '/volumes/create', json: { Name: name } });
    await expect(driver.engine.ensureVolume(name, labels)).rejects.toMatchObject({
      kind: 'foreign',
    });
    await driver.engine.removeVolume(name);
  });
});

describeEachEngine('an app whose network is damaged', ({ kind, socket }) => {
  const project = `p${randomBytes(4).toString('hex')}`;
  let server: TestServer;
  let web: string;
  beforeAll(async () => {
    web = await importImage(socket, 'twofold-test/web:1');
    server = await startServer({ socket });
  });
  afterAll(() => server?.end());

  const call = (method: 'POST' | 'DELETE', path: string, json?: object) =>
    callEngine(socket, { method, path, json });
  const create = async (name: string, more: object = {}) => {
    const { body } = await server.api('POST', '/api/apps', { name, image: web, ...more });
    expect([body.status, body.error]).toEqual(['running', undefined]);
  };
  const containerOf = async (app: string) => {
    const [found] = await containersOf(server, socket, app);
    return { id: found!.Id, networks: found!.NetworkSettings.Networks };
  };
  const networks = () => engineJson<Network[]>(socket, { path: '/networks' });
  const reaches = async (app: string, host: string) => {
    const command = ['timeout', '3', 'wget', '-q', '-O', '-', `http://${host}:8080/`];
    return (await server.api('POST', `/api/apps/${app}/exec`, { command })).body.stdout;
  };

  it('starts again after somebody has removed the networks that nobody used', async () => {
    await create(`${project}-a`, { project });
    await create(`${project}-alone`);
    for (const app of [`${project}-a`, `${project}-alone`]) {
      const names = Object.keys((await containerOf(app)).networks);
      await server.api('POST', `/api/apps/${app}/stop`);
      for (const name of names) {
        const { status } = await call('DELETE', `/networks/${name}`);
        // Podman does not remove the network of a container that has stopped.
        expect([kind, status < 300]).toEqual([kind, kind === 'docker']);
      }
      const { body } = await server.api('POST', `/api/apps/${app}/start`);
      expect([body.status, body.error]).toEqual(['running', undefined]);
      expect((await server.visit(`${app}.apps.test`)).text).toBe('version 1\n');
    }
    await create(`${project}-b`, { project });
    expect(await reaches(`${project}-b`, 'a')).toBe('version 1\n');
  });

  it('is well after a start when there are two of the name, and its containers are the same', async () => {
    await create(`${project}-c`, { project });
    await server.api('POST', `/api/apps/${project}-c/stop`);
    const before = await Promise.all(
      ['a', 'b', 'c'].map(async (name) => (await containerOf(`${project}-${name}`)).id),
    );
    const [name] = Object.keys((await containerOf(`${project}-b`)).networks);
    const [only] = (await networks()).filter(({ Name }) => Name === name);
    await server.stop();
    const made = await call('POST', '/networks/create', { Name: name, Labels: only!.Labels });
    // Podman refuses the second one, as Docker does from 25 on.
    expect([kind, made.status < 300]).toEqual([kind, kind === 'docker']);
    if (made.status < 300)
      for (const Container of before.slice(1)) {
        const { Id } = JSON.parse(made.text) as Network;
        await call('POST', `/networks/${only!.Id}/disconnect`, { Container, Force: true });
        const Aliases = [`${project}-b`, 'b'];
        await call('POST', `/networks/${Id}/connect`, { Container, EndpointConfig: { Aliases } });
      }
    server = await startServer({ socket, folder: server.folder });
    expect((await networks()).filter(({ Name }) => Name === name).length).toBe(1);
    await expect.poll(() => reaches(`${project}-a`, 'b')).toBe('version 1\n');
    await expect.poll(() => reaches(`${project}-b`, 'a')).toBe('version 1\n');
    const { body } = await server.api('POST', `/api/apps/${project}-c/start`);
    expect([body.status, body.error]).toEqual(['running', undefined]);
    const after = ['a', 'b', 'c'].map(async (name) => (await containerOf(`${project}-${name}`)).id);
    expect(await Promise.all(after)).toEqual(before);
    for (const app of ['a', 'b', 'c'])
      expect((await server.visit(`${project}-${app}.apps.test`)).text).toBe('version 1\n');
    await create(`${project}-d`, { project });
  });
});
