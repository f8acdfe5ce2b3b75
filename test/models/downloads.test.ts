import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startHub, type TestHub } from './hub.ts';
import { type ModelsServer, type ModelsServerOptions, startModels } from './server.ts';

const bytes = (size: number, fill: number) => Buffer.alloc(size, fill);
const FILE = bytes(400_000, 7);
const REPOSITORIES = {
  'tests/one-GGUF': { files: { 'one.gguf': FILE } },
  'tests/two-GGUF': { files: { 'two.gguf': bytes(300_000, 8) } },
  'tests/many-GGUF': { files: { 'a.Q4_0.gguf': FILE, 'a.Q8_0.gguf': FILE } },
  'tests/parts-GGUF': {
    files: { 'p-00001-of-00002.gguf': bytes(1000, 1), 'p-00002-of-00002.gguf': bytes(2000, 2) },
  },
  'tests/wrong-GGUF': { files: { 'wrong.gguf': FILE }, corrupt: ['wrong.gguf'] },
  'tests/empty-GGUF': { files: { 'README.md': Buffer.from('nothing') } },
  'tests/mlx-4bit': {
    files: {
      'config.json': Buffer.from('{}'),
      'model.safetensors': bytes(5000, 3),
      'run.py': Buffer.from('import os'),
      'tokenizer.json': Buffer.from('{"a":1}'),
      '.gitattributes': Buffer.from('x'),
    },
  },
  'tests/mlx-wrong': {
    files: { 'config.json': Buffer.from('{}'), 'model.safetensors': bytes(5000, 3) },
    corrupt: ['config.json'],
  },
};
const list = [...Object.keys(REPOSITORIES), 'tests/absent-GGUF'];
const [ONE, TWO] = list as [string, string];

describe('a download', () => {
  let hub: TestHub;
  let server: ModelsServer;
  const start = async (options: ModelsServerOptions = {}) =>
    (server = await startModels({ hub: hub.url, list, ...options }));
  const download = (id: string) => server.call('POST', `/api/mlx/models/${id}/download`);
  const left = (folder = join(server.folder, 'data/models')): string[] =>
    existsSync(folder)
      ? readdirSync(folder, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map(({ name }) => name)
          .sort()
      : [];

  beforeEach(async () => {
    hub = await startHub(REPOSITORIES);
  });
  afterEach(async () => {
    await server?.end();
    await hub.close();
  });

  it('of an MLX model brings its weights and its settings, and never its code', async () => {
    await start();
    expect((await download('tests/mlx-4bit')).status).toBe(202);
    const model = await server.until('tests/mlx-4bit', ({ status }) => status === 'downloaded');
    expect(model).toMatchObject({
      format: 'mlx',
      quantization: '4bit',
      path: join(server.folder, 'data/models/tests/mlx-4bit'),
      runnable: false,
    });
    expect(left()).toEqual(['.plan.json', 'config.json', 'model.safetensors', 'tokenizer.json']);
  });

  it('of more than hosting.models.max_size is 413 with both sizes, and no file is asked for', async () => {
    await start({ models: { maxSize: 350_000 } });
    expect(await download(ONE)).toMatchObject({
      status: 413,
      body: { error: expect.stringContaining(`${ONE} has 1 MB, and hosting.models.max_size is `) },
    });
    expect(left()).toEqual([]);
    expect(hub.requests.some(({ path }) => path.includes('/resolve/'))).toBe(false);
    expect((await download(TWO)).status).toBe(202);
    await server.until(TWO, ({ status }) => status === 'downloaded');
  });

  it('of a model in several parts brings all of them and names the first', async () => {
    await start();
    await download('tests/parts-GGUF');
    const model = await server.until('tests/parts-GGUF', ({ status }) => status === 'downloaded');
    expect(model).toMatchObject({
      size_bytes: 3000,
      path: expect.stringMatching(/p-00001-of-00002\.gguf$/),
    });
  });

  it.each(['tests/wrong-GGUF', 'tests/mlx-wrong'])(
    'with a wrong checksum says so and leaves nothing: %s',
    async (id) => {
      await start();
      await download(id);
      const model = await server.until(
        id,
        ({ status, error }) => status === 'available' && error !== undefined,
      );
      expect(model.error).toMatch(/^The checksum of \S+ is wrong/);
      expect(left()).toEqual([]);
      expect(server.events.at(-1)?.data).toMatchObject({
        model: id,
        status: 'failed',
        error: model.error,
      });
    },
  );

  it('is refused with 507 when the disk has no room for it above the floor', async () => {
    await start({ floor: 100_000, machine: { disk: async () => 499_999 } });
    expect(await download(ONE)).toMatchObject({
      status: 507,
      body: {
        error:
          'Not enough disk: 1 MB more are needed and 1 MB may be used: make room, or lower hosting.disk_floor',
      },
    });
    expect(left()).toEqual([]);
    expect((await download(TWO)).status).toBe(202);
  });

  it('counts what another one has yet to write', async () => {
    hub.behaviour.speed = 100_000;
    await start({ machine: { disk: async () => 600_000 } });
    expect((await download(ONE)).status).toBe(202);
    expect((await download(TWO)).status).toBe(507);
  });

  it('ends when the disk fills up meanwhile, and gives back what it took', async () => {
    hub.behaviour.speed = 400_000;
    let free = 10_000_000;
    await start({ machine: { disk: async () => free } });
    await download(ONE);
    await server.until(ONE, ({ downloaded_bytes: here }) => here > 50_000);
    free = 1000;
    const model = await server.until(ONE, ({ status }) => status === 'available');
    expect(model.error).toMatch(/^Not enough disk/);
    expect(left()).toEqual([]);
  });

  it('ends when the disk itself says that it is full', async () => {
    hub.behaviour.speed = 400_000;
    let full = false;
    const disk = async () => {
      if (full) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
      return 10_000_000;
    };
    await start({ machine: { disk } });
    await download(ONE);
    await server.until(ONE, ({ downloaded_bytes: here }) => here > 50_000);
    full = true;
    const model = await server.until(ONE, ({ status }) => status === 'available');
    expect(model.error).toMatch(/^The disk is full/);
    expect(left()).toEqual([]);
  });

  it.each([
    ['DELETE', `/api/mlx/models/${ONE}/download`],
    ['DELETE', `/api/mlx/models/${encodeURIComponent(ONE)}/download`],
    ['DELETE', `/api/mlx/models/${ONE}`],
  ])('is cancelled by %s %s, and leaves nothing', async (method, path) => {
    hub.behaviour.speed = 100_000;
    await start();
    await download(ONE);
    await server.until(ONE, ({ downloaded_bytes: here }) => here > 20_000);
    expect((await server.call(method, path)).status).toBe(200);
    expect(left()).toEqual([]);
    expect(await server.model(ONE)).toMatchObject({ status: 'available' });
    expect((await server.model(ONE)).error).toBeUndefined();
    expect((await server.call('DELETE', `/api/mlx/models/${ONE}/download`)).status).toBe(409);
    hub.behaviour.speed = 0;
    await download(ONE);
    await server.until(ONE, ({ status }) => status === 'downloaded');
  });

  it('of what is no id is 404, and the hub is not asked', async () => {
    await start();
    const before = hub.requests.length;
    for (const id of ['nothing', '..%2f..%2fetc', 'a%2Fb%2Fc', 'x'.repeat(500)])
      expect((await download(id)).status).toBe(404);
    expect(await server.call('POST', '/api/mlx/pull', { model: '../x' })).toMatchObject({
      status: 404,
      body: { error: expect.stringContaining('Model not found') },
    });
    expect(await server.call('POST', '/api/mlx/pull', { model: 7 })).toMatchObject({ status: 400 });
    expect(await server.call('POST', '/api/mlx/start', { name: ONE })).toMatchObject({
      status: 400,
    });
    expect(await server.call('POST', '/api/mlx/start', { model: 'tests/unlisted' })).toMatchObject({
      status: 404,
    });
    expect(hub.requests.length).toBe(before);
  });

  it('of what the hub does not have is 404, and of what it cannot tell apart 400, with the reason', async () => {
    await start();
    expect(await download('tests/absent-GGUF')).toMatchObject({
      status: 404,
      body: { error: 'The hub has no tests/absent-GGUF' },
    });
    expect(await download('tests/empty-GGUF')).toMatchObject({
      status: 404,
      body: { error: 'The hub has no gguf weights in tests/empty-GGUF' },
    });
    expect(await download('tests/many-GGUF')).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('holds several models') },
    });
    expect(left()).toEqual([]);
  });

  it('is one however often it is asked for, and two models come at the same time', async () => {
    hub.behaviour.speed = 400_000;
    await start();
    const answers = await Promise.all([ONE, ONE, TWO, ONE].map(download));
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202]);
    await server.until(TWO, ({ status }) => status === 'downloaded');
    await server.until(ONE, ({ status }) => status === 'downloaded');
    expect(hub.requests.filter(({ path }) => path.includes('/resolve/')).length).toBe(2);
    expect(readFileSync(join(server.folder, 'data/models', ONE, 'one.gguf')).equals(FILE)).toBe(
      true,
    );
  });

  it('begins anew when the hub does not send parts', async () => {
    hub.behaviour.cuts = [150_000];
    hub.behaviour.ignoresRange = true;
    await start();
    await download(ONE);
    await server.until(ONE, ({ status }) => status === 'downloaded');
    expect(readFileSync(join(server.folder, 'data/models', ONE, 'one.gguf')).equals(FILE)).toBe(
      true,
    );
  });

  it('does not take a part that is not the one it asked for', async () => {
    hub.behaviour.cuts = [150_000];
    hub.behaviour.wrongRange = true;
    await start();
    await download(ONE);
    await server.until(ONE, ({ status }) => status === 'downloaded');
    expect(
      hub.requests.filter(({ path }) => path.endsWith('one.gguf')).map(({ range }) => range),
    ).toEqual([undefined, 'bytes=150000-', undefined]);
    expect(readFileSync(join(server.folder, 'data/models', ONE, 'one.gguf')).equals(FILE)).toBe(
      true,
    );
  });

  it('is 502 when the hub is away or refuses, and goes on later from where it was', async () => {
    await start({ machine: { pause: 1 } });
    hub.behaviour.status = 500;
    expect(await download(ONE)).toMatchObject({
      status: 502,
      body: { error: expect.stringContaining('cannot be asked') },
    });
    hub.behaviour.status = 403;
    expect(await download(ONE)).toMatchObject({
      status: 502,
      body: { error: expect.stringContaining('HF_TOKEN') },
    });
    hub.behaviour.status = null;
    hub.behaviour.cuts = [150_000];
    hub.behaviour.speed = 1_000_000;
    await download(ONE);
    await server.until(ONE, ({ downloaded_bytes: here }) => here > 100_000);
    hub.behaviour.status = 503;
    const model = await server.until(
      ONE,
      ({ status, error }) => status === 'available' && error !== undefined,
    );
    expect(model.error).toBe(
      'The download was cut: the hub answered with 503. What came is kept: download it again to go on',
    );
    expect(left()).toEqual(['.plan.json', 'one.gguf.part']);
    hub.behaviour.status = null;
    await download(ONE);
    await server.until(ONE, ({ status }) => status === 'downloaded');
    expect(hub.requests.at(-1)?.range).toBe('bytes=150000-');
    expect((await server.model(ONE)).error).toBeUndefined();
  });

  it('tells the token to the hub and not to where the hub sends it', async () => {
    const files = await startHub(REPOSITORIES);
    hub.behaviour.filesAt = files.url;
    await start({ env: { HF_TOKEN: 'hf_secret' } });
    await download(ONE);
    await server.until(ONE, ({ status }) => status === 'downloaded');
    expect(hub.requests.length).toBe(2);
    expect(hub.requests.every(({ authorization }) => authorization === 'Bearer hf_secret')).toBe(
      true,
    );
    expect(files.requests.map(({ authorization }) => authorization)).toEqual([undefined]);
    expect(server.logs.join('')).not.toContain('hf_secret');
    await files.close();
  });
});
