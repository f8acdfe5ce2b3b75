import { setTimeout as sleep } from 'node:timers/promises';
import type { Core } from './core.ts';
import { listContainers, replicaOf } from './deploy/containers.ts';
import type { Engine, LogLine, LogOptions } from './engine/engine.ts';
import { EngineError } from './engine/errors.ts';
import { compareTimes, linesAfter, second, type LogPosition, type PlacedLine } from './engine/log-position.ts';
import type { App } from './records/app.ts';

/** A line with where it came from. */
export interface AppLine extends PlacedLine {
  readonly container: string;
  readonly replica: number;
}

/** Where a reader has come, by container. */
export type Cursor = ReadonlyMap<string, LogPosition>;

/** The last lines of an app, of all its replicas in the order of time. */
export async function readAppLogs(core: Core, app: App, options: { readonly tail: number; readonly since?: number }): Promise<LogLine[]> {
  const engine = core.connection.engine();
  const containers = app.deployment === null ? [] : await listContainers(engine, core.naming, app, app.deployment);
  const outputs = await Promise.all(containers.map(({ id }) => allOf(engine.logs(id, options))));
  const lines = outputs.length === 1 ? (outputs[0] as LogLine[]) : outputs.flat().sort((a, b) => compareTimes(a.time, b.time));
  return options.tail === 0 ? [] : lines.slice(-options.tail);
}

/**
 * Every line from now on (and the last `tail` before), or from where `cursor` says. Goes on over restarts and
 * deployments, and ends with the app: when it is stopped, has crashed or is deleted.
 */
export async function* followApp(core: Core, appId: string, { tail, cursor, signal }: { readonly tail: number; readonly cursor: Cursor; readonly signal: AbortSignal }): AsyncGenerator<readonly AppLine[]> {
  const positions = new Map(cursor);
  const known = new Set<string>();
  let first = true;
  while (!signal.aborted) {
    const app = core.apps.byId(appId);
    const containers = app && app.deployment !== null ? await listContainers(core.connection.engine(), core.naming, app, app.deployment) : [];
    const running = containers.filter(({ id, state }) => state === 'running' || !known.has(id));
    const sources = running.map((container) => {
      const isNew = !known.has(container.id) && !positions.has(container.id);
      known.add(container.id);
      return followContainer(core, container.id, { tail: isNew ? (first ? tail : undefined) : undefined, position: positions.get(container.id), signal, replica: replicaOf(container) });
    });
    first = false;
    for await (const batch of merge(sources)) {
      const last = batch.at(-1) as AppLine;
      positions.set(last.container, last.position);
      yield batch;
    }
    if (core.apps.byId(appId)?.desired !== 'running' && running.every(({ state }) => state !== 'running')) return;
    await sleep(100, undefined, { signal }).catch(() => {});
  }
}

/**
 * One container's output while it runs. Podman cuts a followed output off when the container ends, so that what is left
 * is read once more without following, from the last line seen.
 */
async function* followContainer(
  core: Core,
  id: string,
  { tail, position, signal, replica }: { tail: number | undefined; position: LogPosition | undefined; signal: AbortSignal; replica: number },
): AsyncGenerator<readonly AppLine[]> {
  const engine = core.connection.engine();
  let last = position;
  const read = async function* (batches: AsyncIterable<readonly PlacedLine[]>) {
    for await (const batch of batches) {
      last = batch.at(-1)?.position;
      yield batch.map(placed);
    }
  };
  const placed = ({ stream, time, text, position: at }: PlacedLine): AppLine => ({ stream, time, text, position: at, container: id, replica });
  const rest = (options: LogOptions) => read(linesAfter(untilGone(engine.logs(id, { ...options, ...(last && { since: second(last.time) }) })), last));
  if (tail !== undefined) {
    const { shown, end } = await lastLines(engine, id, tail);
    if (shown.length > 0) yield shown.map(placed);
    last = end ?? last;
  }
  yield* rest({ follow: true, signal });
  // Lines may still be on their way to the engine's file when the container has ended: until two looks find nothing new.
  for (let looks = 0, quiet = 0; quiet < 2 && looks < MAX_LOOKS && !signal.aborted; looks += 1) {
    if (looks > 0) await sleep(100, undefined, { signal }).catch(() => {});
    const before = last;
    yield* rest({});
    quiet = last === before ? quiet + 1 : 0;
  }
}

const MAX_LOOKS = 20;

/** A container that a deployment has removed meanwhile has no more to say. */
async function* untilGone(lines: AsyncIterable<readonly LogLine[]>): AsyncGenerator<readonly LogLine[]> {
  try {
    yield* lines;
  } catch (error) {
    if (!(error instanceof EngineError) || error.kind === 'unavailable') throw error;
  }
}

/**
 * The last lines, and the exact position of the end: the last second is read from its beginning, since a position counts
 * the lines of one time.
 */
async function lastLines(engine: Engine, id: string, tail: number) {
  const [newest] = await allOf(engine.logs(id, { tail: 1 }));
  if (!newest) return { shown: [], end: undefined };
  const since = second(newest.time);
  const recent = await allOf(linesAfter(engine.logs(id, { since }), undefined));
  const missing = tail - recent.length;
  const older = missing > 0 ? await allOf(linesAfter(engine.logs(id, { tail: tail + recent.length }), undefined)) : [];
  const before = older.filter(({ time }) => second(time) < since).slice(-Math.max(1, missing));
  const shown = tail === 0 ? [] : [...(missing > 0 ? before : []), ...recent.slice(-tail)];
  return { shown, end: recent.at(-1)?.position };
}

/** All that a stream of batches holds, once it has ended. */
async function allOf<T>(batches: AsyncIterable<readonly T[]>): Promise<T[]> {
  return (await Array.fromAsync(batches)).flat();
}

/** Takes from several sources whatever comes first. */
async function* merge<T>(sources: readonly AsyncGenerator<T>[]): AsyncGenerator<T> {
  const waiting = new Map(sources.map((source) => [source, step(source)]));
  try {
    while (waiting.size > 0) {
      const { source, result } = await Promise.race(waiting.values());
      if (result.done) waiting.delete(source);
      else {
        waiting.set(source, step(source));
        yield result.value;
      }
    }
  } finally {
    for (const source of waiting.keys()) void source.return(undefined).catch(() => {});
  }
}

async function step<T>(source: AsyncGenerator<T>): Promise<{ source: AsyncGenerator<T>; result: IteratorResult<T> }> {
  return { source, result: await source.next() };
}
