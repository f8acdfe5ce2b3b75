import { fileURLToPath } from 'node:url';
import type { Worker } from 'node:worker_threads';
import { type AnswerMemory, bytesOf } from '../answer-memory.ts';
import { LARGE_BYTES, LargeText } from '../large-text.ts';
import { type Bounds, resultTooLarge, tooMuchText, unwanted } from '../bounds.ts';
import type { Connections } from '../store.ts';
import type { ThreadAnswer, ThreadJob, ThreadSetup } from './sqlite-worker.ts';

/**
 * Connections to one SQLite file in threads of their own, where a long statement does not delay
 * other requests.
 */
export interface SqliteThreads {
  /** Runs a statement when a thread is free, and ends it when its client is gone. */
  run(job: Pick<ThreadJob, 'text' | 'values' | 'kind'>, bounds: Bounds): Promise<unknown>;
  connections(): Connections;
  close(): Promise<void>;
}

export interface ThreadsOptions {
  readonly file: string;
  /** The most threads. */
  readonly most: number;
  readonly memory: AnswerMemory;
  /** Whether they run transactions, one at a time; otherwise they only read. */
  readonly writes?: boolean;
}

/** Milliseconds between two checks for clients that are gone. */
const CHECK_EVERY = 100;

type Job = Pick<ThreadJob, 'text' | 'values' | 'kind'>;

interface Waiting {
  readonly job: Job;
  readonly bounds: Bounds;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/**
 * Threads are started on first use, and each runs one statement at a time. To end a statement, its
 * number is written to shared memory, which the statement reads at every step: terminating the
 * thread would not end it.
 */
export function sqliteThreads(options: ThreadsOptions): SqliteThreads {
  return new Threads(options);
}

class Threads implements SqliteThreads {
  readonly #options: ThreadsOptions;
  readonly #threads: Thread[] = [];
  #queue: Waiting[] = [];
  #timer: NodeJS.Timeout | undefined;
  #starting: Promise<void> | undefined;

  constructor(options: ThreadsOptions) {
    this.#options = options;
  }

  run(job: Job, bounds: Bounds): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (bounds.asker.cancelled) return reject(unwanted());
      this.#queue.push({ job, bounds, resolve, reject });
      this.#timer ??= setInterval(() => this.#look(), CHECK_EVERY).unref();
      this.#dispatch();
    });
  }

  connections(): Connections {
    const used = this.#threads.filter(({ running }) => running).length;
    return { used, idle: this.#threads.length - used, waiting: this.#queue.length };
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    for (const waiting of this.#queue.splice(0)) waiting.reject(unwanted());
    await this.#starting;
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }

  #dispatch(): void {
    const free = this.#threads.find(({ running }) => !running);
    if (free) return this.#next(free);
    if (this.#threads.length >= this.#options.most || this.#starting) return;
    this.#starting = this.#start().finally(() => {
      this.#starting = undefined;
      if (this.#queue.length > 0) this.#dispatch();
    });
  }

  async #start(): Promise<void> {
    const { file, writes = false } = this.#options;
    const thread = await startThread(file, writes);
    this.#threads.push(thread);
    thread.worker.on('message', (answer: ThreadAnswer) => {
      this.#settle(thread, answer);
      this.#next(thread);
    });
    thread.worker.on('error', ({ message }: Error) => this.#remove(thread, message));
    thread.worker.on('exit', () => this.#remove(thread, 'a thread ended'));
    this.#next(thread);
  }

  #next(thread: Thread): void {
    const waiting = this.#queue.shift();
    thread.running = waiting;
    if (!waiting) return thread.worker.unref();
    thread.worker.ref();
    const { bounds } = waiting;
    const { memory, writes } = this.#options;
    const room = writes ? undefined : memory.take(bounds, bounds.limits.result);
    if (!room) return thread.post(waiting);
    const refused = (error: unknown) => {
      waiting.reject(error);
      this.#next(thread);
    };
    room.then(() => thread.post(waiting), refused);
  }

  /** Ends statements whose client is gone, and removes them from the queue. */
  #look(): void {
    for (const thread of this.#threads) if (thread.running?.bounds.asker.cancelled) thread.stop();
    const gone = this.#queue.filter(({ bounds }) => bounds.asker.cancelled);
    this.#queue = this.#queue.filter(({ bounds }) => !bounds.asker.cancelled);
    for (const waiting of gone) waiting.reject(unwanted());
    if (this.#queue.length > 0 || this.#threads.some(({ running }) => running)) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #settle({ running }: Thread, answer: ThreadAnswer): void {
    if (!running) return;
    const { bounds, resolve, reject } = running;
    const value = answer.kind === 'value' ? textOf(answer.value) : null;
    const bytes = bytesOf(value);
    if (!this.#options.writes) this.#options.memory.settle(bounds, bounds.limits.result, bytes);
    if (answer.kind === 'value') resolve(value);
    else reject(errorOf(answer, bounds));
  }

  #remove(thread: Thread, message: string): void {
    const index = this.#threads.indexOf(thread);
    if (index < 0) return;
    this.#threads.splice(index, 1);
    this.#settle(thread, { kind: 'failed', message, errcode: undefined });
    thread.running = undefined;
    if (this.#queue.length > 0) this.#dispatch();
  }
}

/** Bytes as text: a large text stays in its bytes. Other values are as they are. */
function textOf(value: unknown): unknown {
  if (!(value instanceof Uint8Array)) return value;
  const text = new LargeText([value]);
  return value.byteLength < LARGE_BYTES ? String(text) : text;
}

function errorOf(answer: Exclude<ThreadAnswer, { kind: 'value' }>, { limits }: Bounds): Error {
  if (answer.kind === 'too large') return resultTooLarge(limits);
  if (answer.kind === 'too much text') return tooMuchText();
  if (answer.kind === 'ended') return unwanted();
  const { message, errcode } = answer;
  return Object.assign(new Error(message), { ...(errcode !== undefined && { errcode }) });
}

/** A thread and the statement that it runs. */
class Thread {
  readonly worker: Worker;
  running: Waiting | undefined;
  readonly #flag: Int32Array;
  #job = 0;

  constructor(worker: Worker, flag: Int32Array) {
    this.worker = worker;
    this.#flag = flag;
  }

  post({ job, bounds }: Waiting): void {
    this.#job += 1;
    const message: ThreadJob = { ...job, id: this.#job, bytes: bounds.limits.result };
    this.worker.postMessage(message, []);
  }

  /** Ends the running statement. */
  stop(): void {
    Atomics.store(this.#flag, 0, this.#job);
  }

  async close(): Promise<void> {
    this.stop();
    await this.worker.terminate();
  }
}

async function startThread(file: string, writes: boolean): Promise<Thread> {
  const { Worker: Started } = await import('node:worker_threads');
  const flag = new Int32Array(new SharedArrayBuffer(4));
  const program = fileURLToPath(import.meta.url).replace(
    /sqlite-threads(\.[jt]s)$/,
    'sqlite-worker$1',
  );
  const setup: ThreadSetup = { file, writes, flag };
  const worker = new Started(program, { workerData: setup, execArgv: [] });
  worker.unref();
  return new Thread(worker, flag);
}
