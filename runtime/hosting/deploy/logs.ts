import { setTimeout as sleep } from 'node:timers/promises';
import type { Core } from '../host/core.ts';
import { listReplicas, replicaOf } from '../host/containers.ts';
import type {
  EngineContainer,
  LogLine,
  LogOptions,
  LogPosition,
  PlacedLine,
} from '../engine/engine.ts';
import { EngineError } from '../engine/errors.ts';
import { compareTimes } from '../engine/logs/position.ts';
import type { HostedApp } from '../records/app.ts';

/** Lines of one replica's output. */
export interface AppLines {
  readonly container: string;
  readonly replica: number;
  readonly lines: readonly PlacedLine[];
}

/** The position of a reader in the output of each container, by the container's id. */
export type Cursor = ReadonlyMap<string, LogPosition>;

/** Reads the last lines of all replicas of an app, ordered by time. */
export async function readAppLogs(
  core: Core,
  app: HostedApp,
  {
    process,
    ...options
  }: { readonly tail: number; readonly since?: number; readonly process: string | null },
): Promise<LogLine[]> {
  const engine = core.connection.engine();
  const containers = await listReplicas(core, app, process);
  const outputs = await Promise.all(containers.map(({ id }) => allOf(engine.logs(id, options))));
  const lines =
    outputs.length === 1
      ? (outputs[0] as LogLine[])
      : outputs.flat().sort((a, b) => compareTimes(a.time, b.time));
  return options.tail === 0 ? [] : lines.slice(-options.tail);
}

/**
 * Follows the output of an app from `cursor` on, or else from its last `tail` lines on. It
 * continues over restarts and deployments, and ends when the app has been stopped, has crashed or
 * was deleted.
 */
export async function* followApp(
  core: Core,
  appId: string,
  {
    tail,
    cursor,
    signal,
    process,
  }: {
    readonly tail: number;
    readonly cursor: Cursor;
    readonly signal: AbortSignal;
    readonly process: string | null;
  },
): AsyncGenerator<AppLines> {
  const positions = new Map(cursor);
  const known = new Set<string>();
  let first = true;
  while (!signal.aborted) {
    const app = core.apps.byId(appId);
    const containers = app ? await listReplicas(core, app, process) : [];
    const running = containers.filter(({ id, state }) => state === 'running' || !known.has(id));
    const sources = running.map((container) => {
      const after = positions.get(container.id);
      const isNew = !known.has(container.id);
      known.add(container.id);
      return followContainer(core, container, {
        ...(after ? { after } : { tail: isNew && first ? tail : undefined }),
        follow: true,
        signal,
      });
    });
    first = false;
    for await (const batch of merge(sources)) {
      positions.set(batch.container, batch.lines.at(-1) as PlacedLine);
      yield batch;
    }
    if (
      core.apps.byId(appId)?.desired !== 'running' &&
      running.every(({ state }) => state !== 'running')
    )
      return;
    await sleep(100, undefined, { signal }).catch(() => {});
  }
}

/** Follows one container's output. Ends without an error when the container was removed. */
async function* followContainer(
  core: Core,
  container: EngineContainer,
  options: LogOptions,
): AsyncGenerator<AppLines> {
  try {
    for await (const lines of core.connection.engine().logs(container.id, options))
      yield { container: container.id, replica: replicaOf(container), lines };
  } catch (error) {
    if (!(error instanceof EngineError) || error.kind === 'unavailable') throw error;
  }
}

/** Collects all items of a stream of batches. */
async function allOf<T>(batches: AsyncIterable<readonly T[]>): Promise<T[]> {
  return (await Array.fromAsync(batches)).flat();
}

/** Yields the items of several sources in the order in which they arrive. */
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

async function step<T>(
  source: AsyncGenerator<T>,
): Promise<{ source: AsyncGenerator<T>; result: IteratorResult<T> }> {
  return { source, result: await source.next() };
}
