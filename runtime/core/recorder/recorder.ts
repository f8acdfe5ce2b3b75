import { randomBytes } from 'node:crypto';
import type { Metrics } from '../metrics/registry.ts';
import { type FigureRange, type Figures, figuresOf } from './figures.ts';
import { createLineRing } from './line-ring.ts';
import {
  createLogReader,
  type LogBatch,
  type LogBatchQuery,
  type LogPage,
  type LogPageQuery,
} from './log-page.ts';
import type { RecordedSample, Sampler } from './sampler.ts';
import { createSteps } from './steps.ts';

/**
 * What a server records about itself in memory: the last lines of its log, and the figures of a
 * day. With `WORKERS`, those of all processes.
 *
 * @example
 * const { lines } = await kernel.recorder.page({ level: 'error', limit: 20 });
 */
export interface Recorder {
  /** Counts requests. */
  readonly metrics: Metrics;
  /** Keeps a line of the log as it was written. */
  note(line: string): void;
  page(query: LogPageQuery): Promise<LogPage>;
  batch(query: LogBatchQuery): Promise<LogBatch>;
  figures(range: FigureRange): Promise<Figures>;
  /** Counts a reader who follows the log, until the returned function is called. */
  follow(): () => void;
  followers(): Promise<number>;
  start(): void;
  stop(): void;
}

/**
 * The recorded lines and figures, of one process or of all. `source` is the process that they come
 * from.
 */
export interface Records {
  note(line: string): void;
  page(query: LogPageQuery): Promise<LogPage>;
  batch(query: LogBatchQuery): Promise<LogBatch>;
  figures(range: FigureRange): Figures;
  add(source: number, sample: RecordedSample): void;
  /** Says how many readers of the log a process has. */
  setFollowers(source: number, count: number): void;
  followers(): number;
}

const SECOND = 1000;
const HOUR_OF_STEPS = 360;
const DAY_OF_MINUTES = 1440;

/** Keeps lines and figures in this process. */
export function createRecords(now: () => number = Date.now): Records {
  const ring = createLineRing();
  const reader = createLogReader(ring, bootName());
  const fine = createSteps(10 * SECOND, HOUR_OF_STEPS);
  const coarse = createSteps(60 * SECOND, DAY_OF_MINUTES);
  const followers = new Map<number, number>();
  return {
    ...reader,
    note: (line) => ring.add(withoutLinks(line)),
    figures: (range) => figuresOf(range === '24h' ? coarse : fine, range, now()),
    add: (source, sample) => {
      for (const steps of [fine, coarse]) steps.add(source, sample, now());
    },
    setFollowers: (source, count) => {
      if (count === 0) followers.delete(source);
      else followers.set(source, count);
    },
    followers: () => [...followers.values()].reduce((sum, count) => sum + count, 0),
  };
}

/** Names this start of the server, so that it notices when a reader continues after a restart. */
const bootName = () => `${Date.now().toString(36)}${randomBytes(3).toString('hex')}`;

/** The number of the process when there is only one. */
const ALONE = 0;

/** The recorder of a server of one process. */
export function createRecorder(sampler: Sampler, records = createRecords()): Recorder {
  const look = createLook(sampler, (sample) => records.add(ALONE, sample));
  let following = 0;
  const change = (by: number) => records.setFollowers(ALONE, (following += by));
  return {
    metrics: sampler.metrics,
    note: records.note,
    page: records.page,
    batch: records.batch,
    figures: async (range) => {
      look.now();
      return records.figures(range);
    },
    follow: () => counted(change),
    followers: async () => records.followers(),
    start: look.start,
    stop: look.stop,
  };
}

/** Counts one more, and one less at the first call of the returned function. */
export function counted(change: (by: number) => void): () => void {
  let open = true;
  change(1);
  return () => {
    if (open) change(-1);
    open = false;
  };
}

/** Milliseconds between two samples: a new server has figures soon. */
const EVERY = 2000;
/** Milliseconds since the last sample within which none is made for a reader. */
const FRESH = 200;

/** Takes a sample every two seconds, and when a reader asks for the newest figures. */
export function createLook(sampler: Sampler, take: (sample: RecordedSample) => void) {
  let timer: NodeJS.Timeout | undefined;
  let last = 0;
  const look = () => {
    last = performance.now();
    take(sampler.sample());
  };
  return {
    start: () => {
      sampler.start();
      last = performance.now();
      timer = setInterval(look, EVERY).unref();
    },
    now: () => {
      if (timer && performance.now() - last > FRESH) look();
    },
    stop: () => {
      clearInterval(timer);
      timer = undefined;
      sampler.stop();
    },
  };
}

/** Links that sign in or set a password. Their address contains a code. */
const LINK = /([?&#](?:token|code)=)[^\s"&#\\]+/g;
/** A line of a mail, which development writes instead of sending it. */
const MAIL = '"msg":"mail"}';
/** Six digits, and not those of an escape such as `\u0012`. */
const MAILED_CODE = /(?<![\du])\d{6}(?!\d)/g;

/**
 * A line without what signs somebody in. In development the log has links of mails, of the first
 * administrator and of the operator for the person at its terminal. A reader of kept lines only
 * has a permission, and must not become another user by it.
 *
 * @example withoutLinks('{"msg":"Console: http://localhost:8080/console#code=abc"}') // …#code=***"}
 */
function withoutLinks(line: string): string {
  const links =
    line.includes('token=') || line.includes('code=') ? line.replaceAll(LINK, '$1***') : line;
  return links.includes(MAIL) ? links.replaceAll(MAILED_CODE, '***') : links;
}
