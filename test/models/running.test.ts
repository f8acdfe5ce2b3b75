import { fork } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { describeLlama } from './available.ts';
import { startHub, type TestHub } from './hub.ts';
import { type ModelsServer, type ModelsServerOptions, startModels } from './server.ts';
import { tinyModel } from './tiny-gguf.ts';

// Loading the library takes seconds of a processor, and some tests do it three times.
vi.setConfig({ testTimeout: 180_000 });

const GOOD = 'tests/good-GGUF';
const OTHER = 'tests/other-GGUF';
const BROKEN = 'tests/broken-GGUF';
const MLX = 'tests/mlx-4bit';
const weights = tinyModel();
const list = [GOOD, OTHER, BROKEN, MLX];
const ROOM_FOR_ONE = {
  loaded: { max: 1, memory: 'auto', gpuMemory: 'auto', idle: 600_000 },
} as const;

/** The processes that run a model for one process, found where Linux lists them. */
function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((each) => {
      try {
        const parent = Number(
          readFileSync(`/proc/${each}/stat`, 'utf8').split(') ')[1]?.split(' ')[1],
        );
        return (
          parent === pid &&
          readFileSync(`/proc/${each}/cmdline`, 'utf8').includes('llamacpp/program')
        );
      } catch {
        return false;
      }
    });
}

/** Whether a process waits for connections at any port (Linux lists them by inode; 0A is LISTEN). */
function listens(pid: number): boolean {
  const ports = ['tcp', 'tcp6'].flatMap((name) =>
    readFileSync(`/proc/${pid}/net/${name}`, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter((fields) => fields[3] === '0A')
      .map((fields) => `socket:[${fields[9]}]`),
  );
  return readdirSync(`/proc/${pid}/fd`).some((fd) =>
    ports.includes(readlinkSync(`/proc/${pid}/fd/${fd}`)),
  );
}

/** Milliseconds of a processor that a process has had (Linux counts in hundredths of a second). */
function processorTime(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

const isAlive = (pid: number) =>
  existsSync(`/proc/${pid}`) && !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');

async function until(
  what: string,
  is: () => boolean | Promise<boolean>,
  turns = 1000,
): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) {
    if (await is()) return;
    await sleep(50);
  }
  throw new Error(`waited for too long: ${what}`);
}

describeLlama('a running model', () => {
  let hub: TestHub;
  let folder: string;
  let server: ModelsServer;
  const open = async (options: ModelsServerOptions = {}) =>
    (server = await startModels({ hub: hub.url, list, folder, models: ROOM_FOR_ONE, ...options }));
  const start = (id: string) => server.call('POST', '/api/mlx/start', { model: id });
  const say = () =>
    server.call('POST', '/api/mlx/v1/chat/completions', {
      messages: [{ role: 'user', content: 'Hi' }],
      max_tokens: 5,
    });

  beforeAll(async () => {
    hub = await startHub({
      [GOOD]: { files: { 'm.gguf': weights } },
      [OTHER]: { files: { 'm.gguf': tinyModel({ seed: 9 }) } },
      [BROKEN]: { files: { 'm.gguf': weights.subarray(0, 300_000) } },
      [MLX]: {
        files: { 'config.json': Buffer.from('{}'), 'model.safetensors': Buffer.alloc(100) },
      },
    });
    folder = mkdtempSync(join(tmpdir(), 'tf-models-'));
    await open();
    for (const id of list) await server.call('POST', `/api/mlx/models/${id}/download`);
    for (const id of list) await server.until(id, ({ status }) => status === 'downloaded');
    await server.stop();
  });
  afterEach(async () => {
    await server.call('POST', '/api/mlx/stop');
    await server.stop();
    expect(childrenOf(process.pid)).toEqual([]);
  });
  afterAll(async () => {
    await hub.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is not there when its file cannot be loaded: 502 with the reason, and no process stays', async () => {
    await open();
    expect(await start(BROKEN)).toMatchObject({
      status: 502,
      body: { error: expect.stringMatching(/^tests\/broken-GGUF cannot be started: .+/) },
    });
    expect(childrenOf(process.pid)).toEqual([]);
    expect(await server.model(BROKEN)).toMatchObject({
      status: 'downloaded',
      error: expect.any(String),
    });
    expect((await server.call('GET', '/api/mlx/models')).body).toMatchObject({
      running: null,
      state: 'stopped',
    });
    expect((await start(GOOD)).status).toBe(200);
  });

  it('has to be downloaded, of a format that the engine runs, and to fit into memory', async () => {
    let memory = 1;
    await open({ list: [...list, 'tests/not-here-GGUF'], machine: { memory: () => memory } });
    expect(await start('tests/not-here-GGUF')).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining('is not downloaded') },
    });
    expect(await start(MLX)).toMatchObject({
      status: 409,
      body: { error: 'tests/mlx-4bit is mlx, and the engine here (llamacpp) runs gguf' },
    });
    expect(await start(GOOD)).toMatchObject({
      status: 507,
      body: {
        error: expect.stringMatching(/^Not enough memory: tests\/good-GGUF needs about 0\.3 GB/),
      },
    });
    memory = 1e9;
    expect((await start(GOOD)).status).toBe(200);
    memory = 1;
    expect((await start(OTHER)).status).toBe(507);
    expect((await say()).status).toBe(200);
  });

  it('is one process, also when many start it at once, and one is replaced by the other', async () => {
    await open();
    const answers = await Promise.all([start(GOOD), start(GOOD), start(GOOD)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(childrenOf(process.pid).length).toBe(1);
    const [first, second] = [await start(OTHER), await start(GOOD)];
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(childrenOf(process.pid).length).toBe(1);
    expect((await server.call('GET', '/api/mlx/models')).body.running).toBe(GOOD);
  });

  it('that is killed is started again, and answers', async () => {
    await open();
    await start(GOOD);
    const [pid] = childrenOf(process.pid) as [number];
    process.kill(pid, 'SIGKILL');
    await until('restarting', () =>
      server.events.some(({ data }) => data['status'] === 'restarting'),
    );
    await server.until(GOOD, ({ status }) => status === 'running');
    expect((await say()).status).toBe(200);
    expect(childrenOf(process.pid)).not.toContain(pid);
    expect((await server.model(GOOD)).error).toContain('SIGKILL');
  });

  it('that is killed in the middle of a stream ends the stream with an error, not in silence', async () => {
    await open();
    await start(GOOD);
    const answer = await fetch(`${server.url}/api/mlx/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.token}` },
      body: JSON.stringify({
        messages: [{ role: 'user', content: 'Hi' }],
        stream: true,
        max_tokens: 1900,
        seed: 3,
      }),
    });
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
    await reader.read();
    process.kill(childrenOf(process.pid)[0] as number, 'SIGKILL');
    let text = '';
    for (let step = await reader.read(); !step.done; step = await reader.read()) text += step.value;
    expect(text).toContain('The model ended before its answer was complete');
    expect(text).not.toContain('[DONE]');
  });

  it(
    'that ends each time is given up after five times, with the reason',
    { timeout: 240_000 },
    async () => {
      // On a busy machine five starts take longer than the minute within which five ends count: the clock stands still.
      const at = Date.now();
      await open({ now: () => at });
      await start(GOOD);
      const path = (await server.model(GOOD)).path as string;
      try {
        writeFileSync(path, weights.subarray(0, 300_000));
        process.kill(childrenOf(process.pid)[0] as number, 'SIGKILL');
        await until('given up', () => server.logs.join('').includes('is not started again'), 4000);
      } finally {
        writeFileSync(path, weights);
      }
      expect((await server.call('GET', '/api/mlx/models')).body).toMatchObject({
        state: 'stopped',
        running: null,
      });
      expect((await server.model(GOOD)).error).toBeTruthy();
      expect(server.logs.join('')).toContain('ended 5 times within a minute');
      expect((await start(GOOD)).status).toBe(200);
    },
  );

  it.each([true, false])(
    'stops working on prompts when their callers go away (streamed: %s)',
    async (stream) => {
      await open({ env: { MODELS_PARALLEL: '1' } });
      await start(GOOD);
      const [pid] = childrenOf(process.pid) as [number];
      const before = processorTime(pid);
      const abort = new AbortController();
      const ask = () =>
        fetch(`${server.url}/api/mlx/v1/completions`, {
          method: 'POST',
          signal: abort.signal,
          headers: { authorization: `Bearer ${server.token}` },
          body: JSON.stringify({ prompt: 'Once', stream, max_tokens: 2000, seed: 3 }),
        }).then((answer) => answer.text());
      const asked = Promise.allSettled(Array.from({ length: 12 }, ask));
      await until('the first to be worked on', () => processorTime(pid) > before + 200);
      abort.abort();
      expect((await asked).filter(({ status }) => status === 'rejected').length).toBeGreaterThan(
        10,
      );
      // A second after they left it does nothing more. All twelve take more than ten seconds of it.
      await sleep(1000);
      const left = processorTime(pid);
      await sleep(1500);
      expect(processorTime(pid) - left).toBeLessThan(100);
      expect(left - before).toBeLessThan(5000);
      expect((await say()).status).toBe(200);
    },
  );

  it('is reached by this server alone: it listens nowhere', async () => {
    await open();
    await start(GOOD);
    expect(listens(process.pid)).toBe(true);
    expect(listens(childrenOf(process.pid)[0] as number)).toBe(false);
  });

  it('that hangs is started anew when it is started', async () => {
    await open();
    await start(GOOD);
    const [pid] = childrenOf(process.pid) as [number];
    expect((await start(GOOD)).status).toBe(200);
    expect(childrenOf(process.pid)).toEqual([pid]);
    process.kill(pid, 'SIGSTOP');
    const answers = await Promise.all([start(GOOD), start(GOOD)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(isAlive(pid)).toBe(false);
    expect(childrenOf(process.pid).length).toBe(1);
    expect((await say()).status).toBe(200);
  });

  it('ends with the server, also when that is killed; a download goes on with the next one', async () => {
    const own = mkdtempSync(join(tmpdir(), 'tf-models-'));
    const program = fork(
      new URL('./program.ts', import.meta.url),
      [JSON.stringify({ hub: hub.url, list, folder: own })],
      { execArgv: [] },
    );
    const [{ url, token }] = (await once(program, 'message')) as [{ url: string; token: string }];
    const call = (method: string, path: string, body?: object) =>
      fetch(`${url}/api/mlx/${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      });
    await call('POST', 'pull', { model: GOOD });
    await until(
      'downloaded',
      async () =>
        ((await (await call('GET', `models/${GOOD}`)).json()) as any).status === 'downloaded',
    );
    expect((await call('POST', 'start', { model: GOOD })).status).toBe(200);
    hub.behaviour.speed = 200_000;
    await call('POST', 'pull', { model: OTHER });
    await until(
      'half',
      async () =>
        ((await (await call('GET', `models/${OTHER}`)).json()) as any).downloaded_bytes > 100_000,
    );
    const [child] = childrenOf(program.pid as number) as [number];
    expect(isAlive(child)).toBe(true);
    program.kill('SIGKILL');
    await until('the child to end', () => !isAlive(child));
    hub.behaviour.speed = 0;
    await open({ folder: own });
    await server.until(OTHER, ({ status }) => status === 'downloaded');
    expect(hub.requests.findLast(({ path }) => path.includes('other-GGUF/resolve'))?.range).toMatch(
      /^bytes=\d{6}-$/,
    );
    await server.until(GOOD, ({ status }) => status === 'running');
    expect((await start(OTHER)).status).toBe(200);
  });
});
