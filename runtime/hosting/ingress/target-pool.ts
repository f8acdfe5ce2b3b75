import type { Socket } from 'node:net';
import type { RouteTarget } from './route-table.ts';
import { createTargetConnections, type TargetConnections } from './target-connections.ts';

/** A target with its connections and its state. */
export interface PooledTarget {
  readonly target: RouteTarget;
  readonly connections: TargetConnections;
  /** The target's side of each open WebSocket. */
  readonly tunnels: Set<Socket>;
  /** How many requests, streams and WebSockets it serves now. */
  active: number;
  /** Set after a refused connection: before this time, other targets are preferred. */
  downUntil: number;
}

/** The targets of all apps, by container id. */
export interface TargetPools {
  /**
   * The available target with the fewest requests; undefined when there is none. `not` is a target
   * that has just failed.
   */
  pick(targets: readonly RouteTarget[], not?: RouteTarget): PooledTarget | undefined;
  /**
   * Resolves when these targets have no more requests or the time is over. Requests that have not
   * reached them move to other targets.
   */
  drained(ids: readonly string[], timeout: number): Promise<void>;
  /** Closes the connections of targets that are no longer used. */
  close(ids: readonly string[]): void;
  /**
   * The containers of these targets have ended. An engine may remove a container's network before
   * the kernel has sent the end of its connections, and then nobody tells us for minutes. So a
   * connection on which nothing more comes is closed.
   */
  abandon(ids: readonly string[]): void;
  closeAll(): void;
}

/** Milliseconds for which a target that refused a connection is avoided. */
const EJECTION_TIME = 1000;
/** Milliseconds in which the last bytes of an ended container are passed on to a WebSocket. */
const LAST_BYTES = 2000;

export function createTargetPools(now: () => number): TargetPools {
  const pools = new Map<string, PooledTarget>();
  /** Closed targets that still have running requests. */
  const leaving = new Set<PooledTarget>();
  const sweeping = setInterval(() => {
    for (const { connections } of pools.values()) connections.sweep();
    for (const pooled of leaving) {
      pooled.connections.sweep();
      if (pooled.connections.empty() && pooled.tunnels.size === 0) leaving.delete(pooled);
    }
  }, 1000).unref();
  let turn = 0;
  const close = (ids: readonly string[]) => {
    for (const id of ids) {
      const pooled = pools.get(id);
      pools.delete(id);
      pooled?.connections.close();
      if (pooled) leaving.add(pooled);
    }
  };

  return {
    pick(targets, not) {
      if (targets.length === 1 && targets[0] !== not) return open(targets[0] as RouteTarget);
      const others = targets.filter((target) => target !== not).map(open);
      const time = now();
      const up = others.filter((target) => target.downUntil <= time);
      const from = up.length > 0 ? up : others;
      turn = (turn + 1) % 1024;
      // Equally busy targets take turns. Otherwise the first of several idle targets would get
      // every request.
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
    close,
    abandon(ids) {
      close(ids);
      for (const { target, connections, tunnels } of leaving) {
        if (!ids.includes(target.id)) continue;
        connections.abandon();
        for (const tunnel of tunnels) setTimeout(() => tunnel.destroy(), LAST_BYTES).unref();
      }
    },
    closeAll() {
      clearInterval(sweeping);
      for (const { connections } of [...pools.values(), ...leaving]) connections.destroy();
      pools.clear();
      leaving.clear();
    },
  };

  function open(target: RouteTarget): PooledTarget {
    const known = pools.get(target.id);
    if (known && isSameAddress(known.target, target)) return known;
    if (known) close([target.id]);
    const fresh: PooledTarget = {
      target,
      connections: createTargetConnections(target, now),
      tunnels: new Set(),
      active: 0,
      downUntil: 0,
    };
    pools.set(target.id, fresh);
    return fresh;
  }
}

const isSameAddress = (a: RouteTarget, b: RouteTarget) =>
  a.host === b.host && a.port === b.port && a.serverName === b.serverName;

/** Avoids a target for a moment after it refused a connection. */
export function eject(pooled: PooledTarget, now: number): void {
  pooled.downUntil = now + EJECTION_TIME;
}

const lessBusy = (best: PooledTarget | undefined, next: PooledTarget) =>
  best === undefined || next.active < best.active ? next : best;
