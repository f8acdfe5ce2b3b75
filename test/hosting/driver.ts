import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { connectEngine } from '../../runtime/hosting/engine/connect.ts';
import type { ContainerSpec, Engine } from '../../runtime/hosting/engine/engine.ts';
import type { BuildOptions } from '../../runtime/hosting/engine/images.ts';
import { importImage } from '../engines/import-image.ts';
import { tarOf } from './archives.ts';

/**
 * The driver of an engine with a network of its own, what makes containers and images there, and what removes them. It
 * registers hooks, so a suite calls it when it is described.
 */
export function driverOf(socket: string) {
  const run = randomBytes(4).toString('hex');
  const labels = { 'twofold-test.run': run };
  const network = `twofold-test-${run}`;
  /** A test that is tried again is another turn, and has names of its own. */
  const driver = { turn: 0 } as { engine: Engine; web: string; turn: number };

  beforeAll(async () => {
    driver.web = await importImage(socket, 'twofold-test/web:1');
    driver.engine = await connectEngine({ kind: 'auto', socket }, {});
    await driver.engine.ensureNetwork(network, labels);
  }, 60_000);
  beforeEach(() => void (driver.turn += 1));
  afterAll(async () => {
    for (const { id } of await driver.engine.list(labels)) await driver.engine.remove(id);
    await driver.engine.removeNetwork(network, labels);
    for (const tag of await driver.engine.images.tags(`localhost/twofold-test-${run}/`))
      await driver.engine.images.untag(tag);
  }, 60_000);

  const spec = (name: string, more: Partial<ContainerSpec> = {}): ContainerSpec => ({
    ...{
      name: `${network}-${driver.turn}-${name}`,
      image: driver.web,
      reference: driver.web,
      labels,
      env: {},
      command: null,
      port: 8080,
      publish: false,
      network,
      aliases: [name],
      volumes: [],
      memory: 0,
      cpus: 0,
      pids: 0,
    },
    ...more,
  });
  const make = async (name: string, more: Partial<ContainerSpec> = {}) => {
    const id = await driver.engine.create(spec(name, more));
    await driver.engine.start(id);
    return id;
  };
  const state = async (id: string) => (await driver.engine.inspect(id))?.state;
  const build = (dockerfile: string | null, more: Partial<BuildOptions> = {}) => {
    const lines: string[] = [];
    const options = {
      tag: `localhost/twofold-test-${run}/built:1`,
      cache: `localhost/twofold-test-${run}-cache/built`,
      dockerfile: 'Dockerfile',
      labels,
      memory: 0,
      cpus: 0,
      target: null,
      args: {},
      secrets: {},
      buildkit: false,
      fresh: false,
      cacheNamespace: run,
      signal: new AbortController().signal,
      onLine: (line: string) => void lines.push(line),
      ...more,
    };
    const files: Record<string, string> =
      dockerfile === null ? { other: 'x' } : { Dockerfile: dockerfile };
    return driver.engine.images
      .build(() => Readable.from([tarOf(files)]), options)
      .then(
        (id) => ({ id, lines }),
        (error) => Promise.reject(Object.assign(error, { lines })),
      );
  };

  return { driver, run, labels, network, spec, make, state, build };
}
