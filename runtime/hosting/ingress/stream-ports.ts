import type { Socket as UdpSocket } from 'node:dgram';
import type { Server } from 'node:net';
import { addressMatcher } from '@twofold/runtime/http';
import type { AppRoute, RoutePort, RouteTarget } from './route-table.ts';
import type { StreamPort, StreamTarget } from './stream-port.ts';
import { openTcpPort } from './tcp-port.ts';
import { openUdpPort } from './udp-port.ts';

/** The ports of all apps that are not HTTP. Nothing is opened before `open`. */
export interface StreamPorts {
  open(inherited?: ReadonlyMap<string, Server | UdpSocket>): void;
  /** Opens and closes ports, as the routes want it. Call this after each change of a route. */
  update(): void;
  handles(): ReadonlyMap<string, Server | UdpSocket>;
  /** Resolves when these targets have no connection left or the time is over; then cuts them. */
  drained(targetIds: readonly string[], timeout: number): Promise<void>;
  release(): void;
  /** Stops accepting, gives connections this many milliseconds, then cuts them. */
  close(timeout: number): Promise<void>;
}

interface PortRules {
  readonly appId: string;
  readonly port: RoutePort;
  readonly allowed: (address: string) => boolean;
}

/** Milliseconds after which a port that could not be opened is tried again. */
const RETRY = 1000;
const DRAIN_LOOK = 50;

interface StreamPortsParts {
  readonly host: string;
  readonly now: () => number;
  readonly routes: () => readonly AppRoute[];
  /** Counts a connection of an app; null when it may have no more. */
  readonly enter: (appId: string) => (() => void) | null;
  /** Waits while an app's route is held, and returns the route. */
  readonly holdUntilServed: (appId: string) => Promise<AppRoute | undefined>;
}

export function createStreamPorts({
  host,
  now,
  routes,
  enter,
  holdUntilServed,
}: StreamPortsParts): StreamPorts {
  const open = new Map<string, StreamPort>();
  const opening = new Set<string>();
  let given = new Map<string, Server | UdpSocket>();
  let listens = false;
  let wanted = new Map<string, PortRules>();
  let retry: NodeJS.Timeout | undefined;

  const targetsOf = (key: string) => async (address: string) => {
    const rules = wanted.get(key);
    if (!rules?.allowed(address)) return [];
    const route = await holdUntilServed(rules.appId);
    // An app that has moved is passed on for a day, as its requests are.
    if (route?.forward && route.forward.until <= now()) return [];
    return route?.state === 'serving' ? targetsIn(route.targets, rules.port) : [];
  };
  const openOne = async (key: string, { port }: PortRules) => {
    opening.add(key);
    const start = port.protocol === 'udp' ? openUdpPort : openTcpPort;
    try {
      const inherited = given.get(key);
      given.delete(key);
      const made = await start({
        ...{ host, port: port.port, targets: targetsOf(key), inherited, now },
        enter: () => enter(wanted.get(key)?.appId ?? ''),
      });
      if (listens && wanted.has(key)) open.set(key, made);
      else made.release();
    } catch {
      clearTimeout(retry);
      retry = setTimeout(update, RETRY).unref();
    } finally {
      opening.delete(key);
    }
  };
  const update = () => {
    wanted = rulesOf(routes(), wanted);
    if (!listens) return;
    for (const [key, port] of open)
      if (!wanted.has(key)) {
        open.delete(key);
        port.release();
      }
    for (const [key, rules] of wanted)
      if (!open.has(key) && !opening.has(key)) void openOne(key, rules);
  };
  const release = () => {
    if (!listens) return;
    listens = false;
    clearTimeout(retry);
    for (const port of open.values()) port.release();
  };
  const quiet = async (targets: ReadonlySet<string> | undefined, timeout: number) => {
    const busy = () => [...open.values()].some((port) => port.active(targets) > 0);
    for (const until = now() + timeout; busy() && now() < until;)
      await new Promise((resolve) => setTimeout(resolve, DRAIN_LOOK));
    for (const port of open.values()) port.cut(targets);
  };
  return {
    open(inherited = new Map()) {
      given = new Map(inherited);
      listens = true;
      update();
    },
    update,
    handles: () => new Map([...open].map(([key, { handle }]) => [key, handle])),
    drained: (ids, timeout) => quiet(new Set(ids), timeout),
    release,
    async close(timeout) {
      release();
      await quiet(undefined, timeout);
    },
  };
}

/** The rules of an unchanged port are kept, because an address matcher costs time to make. */
function rulesOf(
  routes: readonly AppRoute[],
  known: ReadonlyMap<string, PortRules>,
): Map<string, PortRules> {
  const all = routes.flatMap(({ appId, ports = [] }) =>
    ports.map((port) => {
      const key = `${port.port}/${port.protocol}`;
      const before = known.get(key);
      const same = before?.appId === appId && JSON.stringify(before.port) === JSON.stringify(port);
      const allowed = port.allow ? addressMatcher(port.allow) : () => true;
      return [key, same ? before : { appId, port, allowed }] as const;
    }),
  );
  return new Map(all);
}

function targetsIn(
  targets: readonly RouteTarget[],
  { target, protocol }: RoutePort,
): StreamTarget[] {
  return targets.flatMap(({ id, streams }) => {
    const address = streams?.[`${target}/${protocol}`];
    return address ? [{ id, ...address }] : [];
  });
}
