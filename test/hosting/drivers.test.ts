import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { text } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Driver } from '../../runtime/hosting/engine/drivers/driver.ts';
import { DRIVERS } from '../../runtime/hosting/engine/connect.ts';
import type { ContainerSpec, Engine, EngineKind } from '../../runtime/hosting/engine/engine.ts';
import { EngineError } from '../../runtime/hosting/engine/errors.ts';
import type { VolumeEntry } from '../../runtime/hosting/engine/volume-files.ts';
import { describeWith } from '../engines/available.ts';
import { importImage } from '../engines/import-image.ts';
import { services } from '../engines/services.ts';
import { canRunSwarm, startSwarm } from './swarm-cluster.ts';

interface StartedEngine {
  readonly socket: string;
  stop(): Promise<void>;
}

interface EngineUnderTest {
  readonly describe: (name: string, body: () => void) => void;
  readonly start: () => Promise<StartedEngine>;
}

/** An engine that runs already. */
const running = (kind: 'docker' | 'podman'): EngineUnderTest => ({
  describe: (name, body) => describeWith(kind, name, body),
  start: async () => ({
    socket: process.env[services[kind].variable] ?? '',
    stop: async () => {},
  }),
});

/** Where the suite finds an engine of each kind. A driver without a row does not compile. */
const ENGINES: Readonly<Record<EngineKind, EngineUnderTest>> = {
  docker: running('docker'),
  podman: running('podman'),
  swarm: {
    describe: describe.skipIf(!canRunSwarm && process.env['CI'] === undefined),
    async start() {
      const { nodes, stop } = await startSwarm(1);
      return { socket: nodes[0]!.socket, stop };
    },
  },
};

for (const driver of DRIVERS)
  ENGINES[driver.kind].describe(`the driver for ${driver.kind}`, () => conforms(driver));

/** What every driver does. It may lack a part only with a 501 that has a reason: see `orUnsupported`. */
function conforms(driver: Driver): void {
  const mark = randomBytes(4).toString('hex');
  const [network, volume] = [`conform-${mark}`, `conform-${mark}-data`];
  const labels = { 'twofold.conformance': mark };
  let started: StartedEngine;
  let engine: Engine;
  let image: string;
  beforeAll(async () => {
    started = await ENGINES[driver.kind].start();
    image = await importImage(started.socket, 'twofold-test/web:1');
    engine = await driver.connect(started.socket, {});
    await engine.ensureNetwork(network, labels);
    await engine.ensureVolume(volume, labels);
  });
  afterAll(async () => {
    for (const { id } of (await engine?.list(labels)) ?? []) await engine.remove(id);
    await engine?.removeNetwork(network, labels).catch(() => {});
    await engine?.removeVolume(volume).catch(() => {});
    await started?.stop();
  });

  const specOf = (name: string, fields: Partial<ContainerSpec>): ContainerSpec => ({
    ...{ name: `conform-${mark}-${name}`, image, reference: image, labels, env: {}, network },
    ...{ command: null, port: null, publish: true, aliases: [name], volumes: [] },
    ...{ memory: 64 * 2 ** 20, cpus: 1, pids: 64, init: true },
    ...fields,
  });
  const readLog = async (id: string) => {
    const batches = await Array.fromAsync(engine.logs(id, {}));
    return batches.flat().map((line) => line.text);
  };
  const run = async (id: string, ...command: string[]) =>
    engine.exec(id, command, { timeout: 10_000, limit: 1000 });

  it('runs a revision, says where it answers, and reads its log, usage and commands', async () => {
    const { kind, cpus, memory } = await engine.info();
    expect([kind, cpus > 0, memory > 0]).toEqual([driver.kind, true, true]);
    const id = await engine.create(
      specOf('web', {
        ...{ port: 8080, streams: ['9001/udp'], env: { PORT: '8080', COLOR: 'red' }, grace: 5 },
        files: [{ path: '/www/told.txt', content: btoa('by a file'), executable: false }],
        volumes: [{ volume, path: '/data' }],
      }),
    );
    expect((await engine.inspect(id))?.state).toBe('created');
    await engine.start(id);
    const detail = (await engine.inspect(id))!;
    expect(detail).toMatchObject({ state: 'running', labels });
    expect(detail.ports['9001/udp']).toBeGreaterThan(0);
    const at = `http://${detail.machine ?? '127.0.0.1'}:${detail.ports['8080/tcp']}`;
    const answer = async () => (await fetch(`${at}/told.txt`)).text();
    await expect.poll(() => answer().catch(String), { timeout: 10_000 }).toBe('by a file');
    expect(await readLog(id)).toContain('version 1 listens on 8080');
    expect(await run(id, 'sh', '-c', 'echo "$COLOR"; exit 4')).toMatchObject({
      ...{ exitCode: 4, stdout: 'red\n', stderr: '' },
    });
    expect((await engine.usage(id))?.memory).toBeGreaterThan(0);
    const input = Readable.from([Buffer.from('through a pipe')]);
    const piped = await engine.pipe(id, ['cat'], { input, signal: AbortSignal.timeout(10_000) });
    expect(await text(Readable.from(piped.output))).toBe('through a pipe');
    expect((await piped.result()).exitCode).toBe(0);
    const terminal = await engine.terminal(id, ['sh'], { cols: 80, rows: 24 });
    terminal.stream.write('exit 7\n');
    await text(terminal.stream);
    expect(await terminal.exitCode()).toBe(7);
    await engine.stop(id, 5);
    expect((await engine.inspect(id))?.state).toBe('stopped');
    await engine.start(id);
    expect((await engine.list(labels)).map((each) => [each.id, each.state])).toEqual([
      [id, 'running'],
    ]);
    await engine.remove(id);
    await expect.poll(() => engine.inspect(id), { timeout: 20_000 }).toBeNull();
    expect(await engine.list(labels)).toEqual([]);
  });

  it('tells how a command has ended, and starts it once', async () => {
    const command = ['sh', '-c', 'echo did it; exit 3'];
    const id = await engine.create(specOf('once', { command, once: true }));
    await engine.start(id);
    await expect
      .poll(async () => (await engine.inspect(id))?.state, { timeout: 30_000 })
      .toBe('stopped');
    await sleep(1000);
    expect(await engine.inspect(id)).toMatchObject({ state: 'stopped', exitCode: 3 });
    expect(await readLog(id)).toEqual(['did it']);
    await engine.remove(id);
  });

  it('stops a command that runs too long', async () => {
    const id = await engine.create(specOf('late', { command: ['sleep', '1000'], once: true }));
    await engine.start(id);
    await engine.stop(id, 1);
    expect((await engine.inspect(id))?.state).toBe('stopped');
    await engine.remove(id);
  });

  it('reads and writes the files of a volume, which no engine gives to another owner', async () => {
    const write = async (content: string) => {
      const files = await engine.openVolume(volume, labels);
      await files.write(Readable.from([fileOf(content)]));
      await files.close();
    };
    await write('kept');
    const files = await engine.openVolume(volume, labels);
    const seen: string[] = [];
    for await (const { path, data } of files.read())
      if (path === 'note') seen.push(await text(Readable.from(data)));
    await files.close();
    expect(seen).toEqual(['kept']);
    const theirs = engine.ensureVolume(volume, { 'twofold.conformance': 'another' });
    await expect(theirs).rejects.toMatchObject({ kind: 'foreign' });
    const net = engine.ensureNetwork(network, { 'twofold.conformance': 'another' });
    await expect(net).rejects.toMatchObject({ kind: 'foreign' });
  });

  it('has a plain container in a network of its own, for tasks that the server watches itself', async () => {
    const alone = `${network}-alone`;
    await engine.ensureNetwork(alone, labels, { internal: true });
    const id = await engine.create(
      specOf('alone', { network: alone, publish: false, local: true }),
    );
    await engine.start(id);
    expect((await engine.inspect(id))?.state).toBe('running');
    expect((await engine.list(labels)).map((each) => each.id)).toEqual([id]);
    expect((await run(id, 'echo', 'here')).stdout).toBe('here\n');
    await engine.remove(id);
    await engine.removeNetwork(alone, labels);
  });

  it('says what it lacks: 501 with the reason, and nothing else', async () => {
    const empty = { path: '/etc/empty', content: '', executable: false };
    const made = await orUnsupported(engine.create(specOf('empty', { files: [empty] })));
    if (made !== null) await engine.remove(made);
    expect(await engine.list(labels)).toEqual([]);
  });
}

function fileOf(content: string): VolumeEntry {
  const bytes = Buffer.from(content);
  return {
    ...{ path: 'note', type: 'file', target: null, size: bytes.length, mode: 0o644 },
    ...{ uid: 0, gid: 0, mtime: new Date(0), device: [0, 0], attributes: null },
    data: Readable.from([bytes]),
  };
}

/** @returns null when the driver says that its engine cannot. */
async function orUnsupported<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    expect(error).toBeInstanceOf(EngineError);
    const { kind, status, message } = error as EngineError;
    expect([kind, status, message.length > 20]).toEqual(['unsupported', 501, true]);
    return null;
  }
}
