/** A container that serves an app. */
export interface RouteTarget {
  /** The container's id. */
  readonly id: string;
  readonly host: string;
  readonly port: number;
}

/**
 * Where an app's requests go. `serving`: to its targets. `holding`: they wait for the next route, for what cannot be in
 * two places at once. `stopped`: a page says so.
 */
export interface AppRoute {
  readonly appId: string;
  /** Exact names, and `*.example.test` for any one label in front. */
  readonly hosts: readonly string[];
  readonly state: 'serving' | 'holding' | 'stopped';
  readonly targets: readonly RouteTarget[];
  /** How many responses and sockets may be open at once; 10,000 when it says nothing. */
  readonly maxConnections?: number;
}

/** Hosts → routes. Plain data behind a map, so that a worker of its own can be sent the same. */
export interface RouteTable {
  set(route: AppRoute): void;
  remove(appId: string): void;
  get(appId: string): AppRoute | undefined;
  all(): readonly AppRoute[];
  /** The route of a `Host` header; undefined for a host that nobody has. */
  find(host: string | undefined): AppRoute | undefined;
}

/** An empty table. */
export function createRouteTable(): RouteTable {
  const routes = new Map<string, AppRoute>();
  const hosts = new Map<string, string>();
  const forget = (appId: string) => {
    for (const host of routes.get(appId)?.hosts ?? [])
      if (hosts.get(host) === appId) hosts.delete(host);
  };
  return {
    set(route) {
      forget(route.appId);
      routes.set(route.appId, route);
      for (const host of route.hosts) hosts.set(host, route.appId);
    },
    remove(appId) {
      forget(appId);
      routes.delete(appId);
    },
    get: (appId) => routes.get(appId),
    all: () => [...routes.values()],
    find(header) {
      const host = hostName(header);
      const appId = hosts.get(host) ?? hosts.get(`*${host.slice(Math.max(0, host.indexOf('.')))}`);
      return appId === undefined ? undefined : routes.get(appId);
    },
  };
}

/**
 * The name in a `Host` header: lower case, without port and closing dot.
 *
 * @example
 * hostName('Shop.Example.test.:8080') // 'shop.example.test'
 */
export function hostName(header: string | undefined): string {
  if (!header) return '';
  const colon = header.lastIndexOf(':');
  const name = colon > 0 && !header.endsWith(']') ? header.slice(0, colon) : header;
  return (name.endsWith('.') ? name.slice(0, -1) : name).toLowerCase();
}
