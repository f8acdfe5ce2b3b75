import { afterEach, describe, expect, it, vi } from 'vitest';
import type { AppError } from '../../runtime/core/errors.ts';
import { createMetrics } from '../../runtime/core/metrics/registry.ts';
import { renderFamilies } from '../../runtime/core/metrics/render.ts';
import type { ModelEngine } from '../../runtime/models/engine/engine.ts';
import { createFigures, type Figures } from '../../runtime/models/gateway/figures.ts';
import { ModelPool } from '../../runtime/models/pool/model-pool.ts';
import { createRoom, type Room } from '../../runtime/models/pool/room.ts';
import type { RunState } from '../../runtime/models/supervisor.ts';

const GIB = 2 ** 30;
const model = (size: number, id = 'org/m') =>
  ({ id, size }) as Parameters<ReturnType<typeof createRoom>['fits']>[0];

type Options = Parameters<typeof createRoom>[0];

/** A machine with 64 GiB and no card, unless a test says otherwise. */
const roomOf = (options: Partial<Options>) =>
  createRoom({
    memory: () => 60 * GIB,
    total: () => 64 * GIB,
    gpus: () => [],
    look: async () => [],
    ...options,
    limits: { memory: 'auto', gpuMemory: 'auto', ...options.limits },
  });
const card = (total: number, free: number) => () => [
  { name: 'Test GPU', total: total * GIB, free: free * GIB },
];
/** The size of weights that need so many bytes. */
const weightsOf = (bytes: number) => Math.floor((bytes - GIB / 4) / 1.2);
const seen = (bytes: number, more: object = {}) => ({
  model: model(weightsOf(bytes)),
  isSeen: true,
  ...more,
});
const loading = (bytes: number) => seen(bytes, { isSeen: false });

describe('room for a model', () => {
  it('is refused at once if the limit is too small for it, whatever is loaded', () => {
    const room = roomOf({ limits: { memory: 4 * GIB, gpuMemory: 'auto' } });
    const loaded = [{ model: model(3 * GIB), isSeen: true }];
    expect(room.problem(model(6 * GIB), loaded)).toMatchObject({ status: 507 });
    expect(room.problem(model(2 * GIB), loaded)).toBeNull();
    expect(room.fits(model(2 * GIB), loaded)).toBe(false);
    expect(room.fits(model(2 * GIB), [])).toBe(true);
  });

  it('counts what the loaded models will free', () => {
    const room = roomOf({ memory: () => GIB });
    expect(room.problem(model(3 * GIB), [])).toMatchObject({ status: 507 });
    expect(room.problem(model(3 * GIB), [seen(4 * GIB + GIB)])).toBeNull();
    // Also what they will free on a card, where RAM is limited.
    const onCard = roomOf({
      gpus: card(24, 4),
      limits: { memory: 2 * GIB, gpuMemory: 'auto' },
    });
    const loaded = [seen(22 * GIB, { layersOnGpu: 40 })];
    expect(onCard.fits(model(8 * GIB), loaded)).toBe(false);
    expect(onCard.problem(model(8 * GIB), loaded)).toBeNull();
    expect(onCard.problem(model(40 * GIB), loaded)).toMatchObject({ status: 507 });
  });

  it('has no place for a second one while the first is still growing into it', () => {
    const room = roomOf({ memory: () => 10 * GIB });
    const next = model(weightsOf(6 * GIB));
    expect(room.fits(next, [])).toBe(true);
    expect(room.fits(next, [loading(6 * GIB)])).toBe(false);
    // Once it is loaded the free memory shows it.
    expect(room.fits(next, [seen(6 * GIB)])).toBe(true);
    const onCard = roomOf({ memory: () => GIB, gpus: card(24, 20) });
    expect(onCard.fits(model(weightsOf(12 * GIB)), [loading(12 * GIB)])).toBe(false);
    expect(onCard.fits(model(weightsOf(8 * GIB)), [loading(12 * GIB)])).toBe(true);
  });

  it('counts loaded models though their pages are called available', () => {
    const room = roomOf({ memory: () => 60 * GIB });
    expect(room.fits(model(weightsOf(30 * GIB)), [seen(40 * GIB)])).toBe(false);
    expect(room.fits(model(weightsOf(20 * GIB)), [seen(40 * GIB)])).toBe(true);
  });

  it('is that of the limits, of which loaded models take the card first', () => {
    const limits = { memory: 8 * GIB, gpuMemory: 8 * GIB };
    const room = roomOf({ gpus: card(24, 20), limits });
    const next = (bytes: number) => model(weightsOf(bytes));
    expect(room.fits(next(16 * GIB), [])).toBe(true);
    expect(room.fits(next(10 * GIB), [seen(6 * GIB)])).toBe(true);
    expect(room.fits(next(11 * GIB), [seen(6 * GIB)])).toBe(false);
    expect(room.fits(next(7 * GIB), [seen(9 * GIB)])).toBe(true);
    expect(room.fits(next(8 * GIB), [seen(9 * GIB)])).toBe(false);
    const onlyCard = roomOf({
      memory: () => GIB,
      gpus: card(24, 20),
      limits: { memory: 'auto', gpuMemory: 8 * GIB },
    });
    expect(onlyCard.fits(next(4 * GIB), [seen(6 * GIB, { layersOnGpu: 20 })])).toBe(false);
    expect(onlyCard.fits(next(2 * GIB), [seen(6 * GIB, { layersOnGpu: 20 })])).toBe(true);
    // One that runs on the processor alone leaves the card free.
    expect(onlyCard.fits(next(8 * GIB), [seen(6 * GIB, { layersOnGpu: 0 })])).toBe(true);
  });
});

const ROOMY: Room = { fits: () => true, problem: () => null, look: async () => {} };

interface PoolParts {
  readonly room?: Room;
  readonly max?: number;
  readonly loads?: () => Promise<void>;
  readonly figures?: Figures | null;
  /** Bytes of each model. */
  readonly size?: number;
}

describe('the models in memory', () => {
  afterEach(() => void vi.useRealTimers());

  /** One model at a time, on engines that load at once. */
  function createPool({
    room = ROOMY,
    max = 1,
    loads = async () => {},
    size = 1,
    figures = null,
  }: PoolParts = {}) {
    vi.useFakeTimers();
    const pool = new ModelPool({
      find: async (id) => ({ model: model(size, id), engine, isRemote: false }),
      supervise: () => {
        let state: RunState = { state: 'stopped', model: null, endpoint: null };
        return {
          start: async (_engine, started) => {
            await loads();
            state = { state: 'running', model: started, endpoint: {} as never };
          },
          stop: async () => void (state = { state: 'stopped', model: null, endpoint: null }),
          now: () => state,
          problem: () => undefined,
        };
      },
      ...{ room, max, idle: 900_000, now: Date.now, figures },
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
    const metrics = createMetrics();
    const { pool, acquire, loaded } = createPool({ figures: createFigures(metrics) });
    const lines = () => renderFamilies(metrics.snapshot()).split('\n');
    const lease = await acquire('a');
    const refused = acquire('b').catch((error: AppError) => error);
    await vi.advanceTimersByTimeAsync(59_000);
    expect(loaded()).toEqual(['a']);
    expect(lines()).toEqual(
      expect.arrayContaining(['twofold_models_queue 1', 'twofold_models_loaded 1']),
    );
    await vi.advanceTimersByTimeAsync(2000);
    expect(await refused).toMatchObject({ status: 503, headers: { 'retry-after': '10' } });
    const waits = acquire('b');
    await vi.advanceTimersByTimeAsync(1000);
    lease.release();
    expect((await waits).id).toBe('b');
    expect(loaded()).toEqual(['b']);
    await pool.close();
  });

  it('are counted while they load: of two at once that do not fit together the second waits', async () => {
    const ends: (() => void)[] = [];
    const free = [10 * GIB];
    const { pool, acquire, loaded } = createPool({
      max: 3,
      room: roomOf({ memory: () => free[0]! }),
      loads: () => new Promise((resolve) => ends.push(resolve)),
      size: weightsOf(6 * GIB),
    });
    const [first, second] = [acquire('a'), acquire('b')];
    await vi.advanceTimersByTimeAsync(100);
    expect(ends.length).toBe(1);
    free[0] = 4 * GIB;
    ends[0]!();
    const lease = await first;
    await vi.advanceTimersByTimeAsync(100);
    expect([ends.length, loaded()]).toEqual([1, ['a']]);
    // The first makes room when it is idle.
    free[0] = 10 * GIB;
    lease.release();
    await vi.advanceTimersByTimeAsync(100);
    ends[1]!();
    expect((await second).id).toBe('b');
    await pool.close();
  });
});
