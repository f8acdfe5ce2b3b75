import { afterEach, describe, expect, it, vi } from 'vitest';
import type { AppError } from '../../runtime/core/errors.ts';
import type { ModelEngine } from '../../runtime/models/engine/engine.ts';
import { createModelPool } from '../../runtime/models/pool/model-pool.ts';
import { createRoom } from '../../runtime/models/pool/room.ts';
import type { RunState } from '../../runtime/models/supervisor.ts';

const GIB = 2 ** 30;
const model = (size: number, id = 'org/m') =>
  ({ id, size }) as Parameters<ReturnType<typeof createRoom>['fits']>[0];

describe('room for a model', () => {
  it('is refused at once if the limit is too small for it, whatever is loaded', () => {
    const room = createRoom({
      memory: () => 60 * GIB,
      gpus: () => [],
      limits: { memory: 4 * GIB, gpuMemory: 'auto' },
    });
    const loaded = [{ model: model(3 * GIB) }];
    expect(room.problem(model(6 * GIB), loaded)).toMatchObject({ status: 507 });
    expect(room.problem(model(2 * GIB), loaded)).toBeNull();
    expect(room.fits(model(2 * GIB), loaded)).toBe(false);
    expect(room.fits(model(2 * GIB), [])).toBe(true);
  });

  it('counts what the loaded models will free', () => {
    const room = createRoom({
      memory: () => GIB,
      gpus: () => [],
      limits: { memory: 'auto', gpuMemory: 'auto' },
    });
    expect(room.problem(model(3 * GIB), [])).toMatchObject({ status: 507 });
    expect(room.problem(model(3 * GIB), [{ model: model(4 * GIB) }])).toBeNull();
  });
});

describe('the models in memory', () => {
  afterEach(() => void vi.useRealTimers());

  /** One model at a time, on engines that load at once. */
  function createPool() {
    vi.useFakeTimers();
    const pool = createModelPool({
      find: async (id) => ({ model: model(1, id), engine, isRemote: false }),
      supervise: () => {
        let state: RunState = { state: 'stopped', model: null, endpoint: null };
        return {
          start: async (_engine, started) => {
            state = { state: 'running', model: started, endpoint: {} as never };
          },
          stop: async () => void (state = { state: 'stopped', model: null, endpoint: null }),
          now: () => state,
          problem: () => undefined,
        };
      },
      room: { fits: () => true, problem: () => null },
      ...{ max: 1, idle: 900_000, now: Date.now, figures: null },
    });
    const acquire = (id: string) => pool.acquire(id, new AbortController().signal);
    const loaded = () => pool.states().map((state) => state.model?.id);
    return { pool, acquire, loaded };
  }
  const engine = { another: () => ({ name: 'llamacpp' }) } as unknown as ModelEngine;

  it('leave when nobody has asked them for a while, and never while they answer', async () => {
    const { pool, acquire, loaded } = createPool();
    const lease = await acquire('a');
    await vi.advanceTimersByTimeAsync(2_000_000);
    expect(loaded()).toEqual(['a']);
    lease.release();
    await vi.advanceTimersByTimeAsync(800_000);
    expect(loaded()).toEqual(['a']);
    await vi.advanceTimersByTimeAsync(200_000);
    expect(loaded()).toEqual([]);
    await pool.close();
  });

  it('make another wait while they are busy, and after a minute it is 503 with a time to come back', async () => {
    const { pool, acquire, loaded } = createPool();
    const lease = await acquire('a');
    const refused = acquire('b').catch((error: AppError) => error);
    await vi.advanceTimersByTimeAsync(59_000);
    expect(loaded()).toEqual(['a']);
    await vi.advanceTimersByTimeAsync(2000);
    expect(await refused).toMatchObject({ status: 503, headers: { 'retry-after': '10' } });
    const waits = acquire('b');
    await vi.advanceTimersByTimeAsync(1000);
    lease.release();
    expect((await waits).id).toBe('b');
    expect(loaded()).toEqual(['b']);
    await pool.close();
  });
});
