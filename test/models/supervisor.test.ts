import { setTimeout as sleep } from 'node:timers/promises';
import { createLog } from '../../runtime/core/config/log.ts';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Endpoint, OneEngine, StartOptions } from '../../runtime/models/engine/engine.ts';
import type { LocalModel } from '../../runtime/models/model.ts';
import { type RunState, Supervisor } from '../../runtime/models/supervisor.ts';

const PAUSE = 10;
const modelOf = (id: string): LocalModel => ({
  id,
  format: 'gguf',
  path: '',
  size: 1,
  context: null,
});
const ONE = modelOf('tests/one');

/** An engine that runs nothing; the test says when a model ends. */
class Engine implements OneEngine {
  readonly name = 'llamacpp';
  readonly formats = ['gguf'] as const;
  readonly started: { readonly id: string; readonly at: number; readonly options: StartOptions }[] =
    [];
  stops = 0;
  healthy = true;
  problem: Error | null = null;
  eligible = async () => null;
  health = async () => this.healthy;
  async start({ id }: LocalModel, options: StartOptions): Promise<Endpoint> {
    this.started.push({ id, at: performance.now(), options });
    if (this.problem) throw this.problem;
    return { model: id, ask: () => Promise.reject(new TypeError('nobody asks')) };
  }
  async stop() {
    this.stops += 1;
  }
  /** Ends the model that was started last. */
  end(reason = 'it crashed') {
    this.started.at(-1)?.options.onExit(reason);
  }
}

describe('the supervisor', () => {
  let engine: Engine;
  let supervisor: Supervisor;
  let states: RunState['state'][];
  let clock: number;
  const starts = async (count: number) => {
    while (engine.started.length < count) await sleep(1);
    while (supervisor.now().state === 'starting') await sleep(1);
  };

  beforeEach(() => {
    engine = new Engine();
    states = [];
    clock = 1_000_000;
    supervisor = new Supervisor({
      log: createLog({ level: 'silent' }, { write: () => {} }),
      now: () => clock,
      pause: PAUSE,
      onChange: ({ state }) => void states.push(state),
    });
  });

  it('starts a crashed model again after pauses that grow, and gives up at the fifth crash within a minute', async () => {
    await supervisor.start(engine, ONE);
    const pauses: number[] = [];
    for (let crash = 1; crash < 5; crash += 1) {
      const crashed = performance.now();
      engine.end(`crash ${crash}`);
      expect(supervisor.now()).toMatchObject({ state: 'restarting', model: ONE, endpoint: null });
      await starts(crash + 1);
      pauses.push((engine.started.at(-1)?.at ?? 0) - crashed);
    }
    // A timer may be a millisecond early, and on a busy machine as late as it likes.
    for (const [index, pause] of pauses.entries())
      expect(pause).toBeGreaterThanOrEqual(PAUSE * 2 ** index - 1);
    engine.end('the last');
    expect(supervisor.now()).toEqual({ state: 'stopped', model: null, endpoint: null });
    expect(supervisor.problem(ONE.id)).toBe('the last');
    await sleep(PAUSE * 20);
    expect(engine.started.length).toBe(5);
  });

  it('forgets crashes that are older than a minute', async () => {
    await supervisor.start(engine, ONE);
    for (let crash = 1; crash <= 8; crash += 1) {
      engine.end();
      await starts(crash + 1);
      clock += 61_000;
    }
    expect(supervisor.now().state).toBe('running');
  });

  it('counts a start that fails as a crash', async () => {
    await supervisor.start(engine, ONE);
    engine.problem = new TypeError('the file is gone');
    engine.end();
    while (supervisor.now().state !== 'stopped') await sleep(1);
    expect(engine.started.length).toBe(5);
    expect(supervisor.problem(ONE.id)).toBe('the file is gone');
  });

  it('does not start a model again that was stopped meanwhile', async () => {
    await supervisor.start(engine, ONE);
    engine.end();
    await supervisor.stop();
    await sleep(PAUSE * 5);
    expect(engine.started.length).toBe(1);
    expect(supervisor.now().state).toBe('stopped');
  });

  it('stops one before it starts another, and calls off a start that nobody wants any more', async () => {
    await supervisor.start(engine, ONE);
    const [first, second] = await Promise.allSettled([
      supervisor.start(engine, modelOf('tests/two')),
      supervisor.start(engine, modelOf('tests/three')),
    ]);
    expect(first).toMatchObject({ status: 'rejected', reason: { status: 409 } });
    expect(second.status).toBe('fulfilled');
    expect(engine.started.map(({ id }) => id)).toEqual(['tests/one', 'tests/three']);
    expect(engine.stops).toBe(1);
    expect(supervisor.now().model?.id).toBe('tests/three');
  });

  it('leaves a model alone that answers, and starts one anew that does not', async () => {
    await supervisor.start(engine, ONE);
    await supervisor.start(engine, ONE);
    expect(engine.started.length).toBe(1);
    engine.healthy = false;
    await Promise.all([supervisor.start(engine, ONE), supervisor.start(engine, ONE)]);
    expect(engine.started.length).toBe(2);
    expect(engine.stops).toBe(1);
    expect(states).toEqual(['starting', 'running', 'stopped', 'starting', 'running']);
  });

  it('says why a start failed, and is ready for the next', async () => {
    engine.problem = new TypeError('no such file');
    await expect(supervisor.start(engine, ONE)).rejects.toThrow('no such file');
    expect(supervisor.now().state).toBe('stopped');
    expect(supervisor.problem(ONE.id)).toBe('no such file');
    engine.problem = null;
    await supervisor.start(engine, ONE);
    expect(supervisor.problem(ONE.id)).toBeUndefined();
  });
});
