import type { RouteTarget } from './route-table.ts';
import { createTargetConnections, type TargetConnections } from './target-connections.ts';

/** A target with its connections and what we have seen of it. */
export interface PooledTarget {
  readonly target: RouteTarget;
  readonly connections: TargetConnections;
  /** Requests, streams and sockets that it serves now. */
  active: number;
  /** It refused a connection: not asked before this time, unless there is no other. */
  downUntil: number;
}

/** The targets of all apps, by container. */
export interface TargetPools {
  /** The least busy target that is up; undefined when there is none. `not` is one that has just failed. */
  pick(targets: readonly RouteTarget[], not?: RouteTarget): PooledTarget | undefined;
  /** When the last request of these is over, or the time is up; one that has not reached them goes where it can. */
  drained(ids: readonly string[], timeout: number): Promise<void>;
  /** Closes the connections of a target that serves no more. */
  close(ids: readonly string[]): void;
  closeAll(): void;
}

/** How long a target that refused is left alone, in milliseconds. */
const EJECTION = 1000;

export function createTargetPools(now: () => number): TargetPools {
  const pools = new Map<string, PooledTarget>();
  /** Closed, with something that still runs. */
  const leaving = new Set<TargetConnections>();
  const sweeping = setInterval(() => {
    for (const { connections } of pools.values()) connections.sweep();
    for (const connections of leaving) {
      connections.sweep();
      if (connections.empty()) leaving.delete(connections);
    }
  }, 1000).unref();
  let turn = 0;

  return {
    pick(targets, not) {
      if (targets.length === 1 && targets[0] !== not) return open(targets[0] as RouteTarget);
      const others = targets.filter((target) => target !== not).map(open);
      const time = now();
      const up = others.filter((target) => target.downUntil <= time);
      const from = up.length > 0 ? up : others;
      turn = (turn + 1) % 1024;
      // Ties go round, or the first of several idle targets would get everything.
      return from
        .map((_, index) => from[(index + turn) % from.length] as PooledTarget)
        .reduce<PooledTarget | undefined>(lessBusy, undefined);
    },
    async drained(ids, timeout) {
      const end = now() + timeout;
      for (const id of ids) pools.get(id)?.connections.yield();
      while (ids.some((id) => (pools.get(id)?.active ?? 0) > 0) && now() < end)
        await new Promise((resolve) => setTimeout(resolve, 10));
    },
    close(ids) {
      for (const id of ids) {
        const pooled = pools.get(id);
        pools.delete(id);
        pooled?.connections.close();
        if (pooled) leaving.add(pooled.connections);
      }
    },
    closeAll() {
      clearInterval(sweeping);
      for (const connections of [...pools.values()]
        .map((pooled) => pooled.connections)
        .concat(...leaving))
        connections.destroy();
      pools.clear();
      leaving.clear();
    },
  };

  function open(target: RouteTarget): PooledTarget {
    const known = pools.get(target.id);
    if (known && known.target.host === target.host && known.target.port === target.port)
      return known;
    known?.connections.close();
    const fresh: PooledTarget = {
      target,
      connections: createTargetConnections(target, now),
      active: 0,
      downUntil: 0,
    };
    pools.set(target.id, fresh);
    return fresh;
  }
}

/** Takes a target out for a moment after it refused. */
export function eject(pooled: PooledTarget, now: number): void {
  pooled.downUntil = now + EJECTION;
}

const lessBusy = (best: PooledTarget | undefined, next: PooledTarget) =>
  best === undefined || next.active < best.active ? next : best;
