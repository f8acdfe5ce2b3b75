import { AppError, failure } from '@twofold/runtime/errors';
import type { ModelEngine, OneEngine } from '../engine/engine.ts';
import type { Figures } from '../gateway/figures.ts';
import type { ModelLease } from '../gateway/model-access.ts';
import type { LocalModel } from '../model.ts';
import type { RunState, Supervisor } from '../supervisor.ts';
import type { Loaded, Room } from './room.ts';

/** A model that can be loaded, and the engine that runs it. */
export interface Loadable {
  readonly model: LocalModel;
  readonly engine: ModelEngine;
  /** Whether it is on an attached server, and needs nothing here. */
  readonly isRemote: boolean;
}

export interface PoolOptions {
  /** @throws AppError 404, 409, 503 */
  readonly find: (id: string) => Promise<Loadable>;
  readonly supervise: (onChange: (state: RunState) => void) => Supervising;
  readonly room: Room;
  readonly max: number;
  /** Milliseconds after which an idle model is unloaded. */
  readonly idle: number;
  readonly now: () => number;
  readonly figures: Figures | null;
}

type Supervising = Pick<Supervisor, keyof Supervisor>;

/** A model that is loaded, or is being loaded or unloaded. */
interface Slot extends Omit<Loadable, 'engine'> {
  readonly engine: OneEngine;
  readonly found: Loadable;
  readonly supervisor: Supervising;
  /** Requests that it answers. */
  busy: number;
  used: number;
  phase: 'loading' | 'loaded' | 'leaving';
  /** Whether the figures of free memory were read after it was loaded. */
  isSeen: boolean;
}

/** A request that waits for a model. */
interface Ticket {
  readonly found: Loadable;
  grant(slot: Slot): void;
  refuse(error: unknown): void;
}

/** Milliseconds that a request waits for room. */
const PATIENCE = 60_000;
const MAX_IDLE_INTERVAL = 30_000;
const NO_ROOM = () =>
  failure.unavailable('All models that are loaded are busy', { headers: { 'retry-after': '10' } });

/** The models in memory. */
export class ModelPool {
  readonly #options: PoolOptions;
  readonly #slots = new Map<string, Slot>();
  readonly #problems = new Map<string, string>();
  readonly #timer: NodeJS.Timeout;
  #waiting: Ticket[] = [];
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    const interval = Math.min(MAX_IDLE_INTERVAL, Math.max(50, options.idle / 2));
    this.#timer = setInterval(() => this.#unloadIdle(), interval);
    this.#timer.unref();
  }

  /**
   * The model, ready to answer; it is loaded if it is not. It is not unloaded before its release.
   *
   * @throws AppError 404, 409, 502, 507; 503 when there is no room for a minute
   */
  async acquire(id: string, signal: AbortSignal): Promise<ModelLease> {
    const found = this.#slots.get(id)?.found ?? (await this.#options.find(id));
    if (this.#closed) throw failure.unavailable('The server stops');
    return new Promise((resolve, reject) => {
      this.#enqueue(found, signal, { resolve, reject });
      this.#serve();
    });
  }

  /** Loads a model, or starts it anew if it hangs. */
  async start(id: string): Promise<void> {
    const slot = this.#slots.get(id);
    if (slot?.phase === 'loaded') return this.#startAgain(slot);
    (await this.acquire(id, new AbortController().signal)).release();
  }

  /** Unloads a model, or all. @returns the ids of those that were loaded, the last used first */
  async stop(id?: string): Promise<readonly string[]> {
    const slots = [...this.#slots.values()]
      .filter(({ model }) => id === undefined || model.id === id)
      .toSorted((a, b) => b.used - a.used);
    for (const ticket of this.#waiting.filter(
      ({ found }) => id === undefined || found.model.id === id,
    ))
      ticket.refuse(failure.unavailable('The model was stopped'));
    await Promise.all(slots.map((slot) => this.#unload(slot)));
    return slots.map(({ model }) => model.id);
  }

  /** The loaded models, the last used one first. */
  states(): readonly RunState[] {
    return [...this.#slots.values()]
      .toSorted((a, b) => b.used - a.used)
      .map(({ supervisor }) => supervisor.now())
      .filter(({ model }) => model !== null);
  }

  /** The reason why a model ended, or could not be loaded. */
  problem(id: string): string | undefined {
    return this.#slots.get(id)?.supervisor.problem(id) ?? this.#problems.get(id);
  }

  /** Unloads all, and loads no more. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    await this.stop();
  }

  #enqueue(
    found: Loadable,
    signal: AbortSignal,
    { resolve, reject }: { resolve: (lease: ModelLease) => void; reject: (error: unknown) => void },
  ): void {
    const leave = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      this.#waiting = this.#waiting.filter((each) => each !== ticket);
      this.#options.figures?.queue(-1);
    };
    const ticket: Ticket = {
      found,
      grant: (slot) => {
        leave();
        resolve(this.#lease(slot));
      },
      refuse: (error) => {
        leave();
        reject(error);
      },
    };
    const onAbort = () => ticket.refuse(signal.reason);
    // A model that is being loaded has its room, and the engine limits that time itself.
    const timer = setTimeout(() => {
      if (this.#slots.get(found.model.id)?.phase !== 'loading') ticket.refuse(NO_ROOM());
    }, PATIENCE);
    signal.addEventListener('abort', onAbort, { once: true });
    this.#options.figures?.queue(1);
    this.#waiting.push(ticket);
    if (signal.aborted) onAbort();
  }

  /**
   * Serves what waits, in its order. While a model waits for room, no further request goes to the
   * models that could make it, because they would stay busy forever.
   */
  #serve(): void {
    let blocked = false;
    for (const ticket of [...this.#waiting]) {
      const { model, isRemote } = ticket.found;
      const slot = this.#slots.get(model.id);
      const isFree = !blocked || isRemote;
      if (slot) {
        if (isFree && isReady(slot)) ticket.grant(slot);
      } else if (isFree && this.#waiting.includes(ticket)) blocked = !this.#makeRoom(ticket.found);
    }
  }

  /** Begins to load a model if there is room. Otherwise unloads an idle one, if that helps. */
  #makeRoom(found: Loadable): boolean {
    const { room, max } = this.#options;
    const local = [...this.#slots.values()].filter(({ isRemote }) => !isRemote);
    const loaded = local.map(toLoaded);
    if (found.isRemote || (local.length < max && room.fits(found.model, loaded))) {
      this.#load(found);
      return true;
    }
    const problem = room.problem(found.model, loaded);
    if (problem) {
      this.#refuseAll(found.model.id, problem);
      return true;
    }
    const idle = local
      .filter(({ phase, busy }) => phase === 'loaded' && busy === 0)
      .toSorted((a, b) => a.used - b.used);
    const isLeaving = local.some(({ phase }) => phase === 'leaving');
    if (idle[0] && !isLeaving) void this.#unload(idle[0]);
    return false;
  }

  #load(found: Loadable): void {
    const { id } = found.model;
    const supervisor = this.#options.supervise((state) => this.#onChange(id, state));
    const engine = found.engine.another();
    const slot: Slot = {
      ...found,
      found,
      engine,
      supervisor,
      busy: 0,
      used: this.#options.now(),
      phase: 'loading',
      isSeen: false,
    };
    this.#slots.set(id, slot);
    this.#problems.delete(id);
    this.#options.figures?.loaded(1);
    supervisor.start(engine, found.model).then(
      () => {
        if (slot.phase === 'loading') slot.phase = 'loaded';
        void this.#see(slot);
        // Those that have waited for it go together, so that models are not loaded in turns.
        for (const ticket of this.#waiting.filter((each) => each.found.model.id === id))
          if (isReady(slot)) ticket.grant(slot);
        this.#serve();
      },
      (error: unknown) => {
        this.#remove(slot, (error as Error).message);
        this.#refuseAll(id, error);
        this.#serve();
      },
    );
  }

  /** From now on the figures of free memory have what the model takes. */
  async #see(slot: Slot): Promise<void> {
    await this.#options.room.look();
    slot.isSeen = true;
    if (this.#waiting.length > 0) this.#serve();
  }

  /** A model that does not answer is started anew; the supervisor stops it in between. */
  async #startAgain(slot: Slot): Promise<void> {
    slot.phase = 'loading';
    slot.isSeen = false;
    try {
      await slot.supervisor.start(slot.engine, slot.model);
      if (slot.phase === 'loading') slot.phase = 'loaded';
      slot.used = this.#options.now();
      void this.#see(slot);
    } catch (error) {
      this.#remove(slot, (error as Error).message);
      this.#refuseAll(slot.model.id, error);
      throw error;
    } finally {
      this.#serve();
    }
  }

  /** A model that has ended too often is not started again. */
  #onChange(id: string, { state }: RunState): void {
    const slot = this.#slots.get(id);
    if (slot?.phase !== 'loaded') return;
    if (state === 'stopped') {
      const reason = slot.supervisor.problem(id) ?? 'it has ended';
      this.#remove(slot, reason);
      this.#refuseAll(id, new AppError(502, 'MODEL_FAILED', `${id} has ended: ${reason}`));
    }
    if (state === 'running') void this.#see(slot);
    else slot.isSeen = false;
    if (state !== 'restarting') this.#serve();
  }

  #remove(slot: Slot, problem?: string): void {
    const { id } = slot.model;
    if (this.#slots.get(id) !== slot) return;
    this.#slots.delete(id);
    this.#options.figures?.loaded(-1);
    if (problem !== undefined) this.#problems.set(id, problem);
  }

  #refuseAll(id: string, error: unknown): void {
    for (const ticket of this.#waiting.filter(({ found }) => found.model.id === id))
      ticket.refuse(error);
  }

  async #unload(slot: Slot): Promise<void> {
    slot.phase = 'leaving';
    await slot.supervisor.stop();
    this.#remove(slot);
    this.#serve();
  }

  #unloadIdle(): void {
    const { now, idle } = this.#options;
    for (const slot of this.#slots.values())
      if (slot.phase === 'loaded' && slot.busy === 0 && now() - slot.used >= idle)
        void this.#unload(slot);
  }

  #lease(slot: Slot): ModelLease {
    const { model, engine, supervisor } = slot;
    const { endpoint } = supervisor.now();
    slot.busy += 1;
    slot.used = this.#options.now();
    let released = false;
    return {
      id: model.id,
      engine: engine.name,
      endpoint: endpoint as NonNullable<typeof endpoint>,
      release: () => {
        if (released) return;
        released = true;
        slot.busy -= 1;
        slot.used = this.#options.now();
        if (this.#waiting.length > 0) this.#serve();
      },
    };
  }
}

const isReady = ({ phase, supervisor }: Slot) =>
  phase === 'loaded' && supervisor.now().endpoint !== null;

const toLoaded = ({ model, isSeen, supervisor }: Slot): Loaded => ({
  model,
  isSeen,
  layersOnGpu: supervisor.now().endpoint?.layersOnGpu,
});
