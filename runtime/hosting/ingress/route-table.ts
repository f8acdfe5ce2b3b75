/** The address of a container that serves an app. */
export interface RouteTarget {
  /** The container's id. */
  readonly id: string;
  readonly host: string;
  readonly port: number;
  /** Where its ports that are not HTTP are, by port and protocol in the container: `5432/tcp`. */
  readonly streams?: Readonly<Record<string, { readonly host: string; readonly port: number }>>;
  /** A Unix socket to use instead of the host and port. */
  readonly path?: string;
  /** The name in the target's certificate; without it the connection is not encrypted. */
  readonly serverName?: string;
}

/**
 * Where the requests of an app go. `serving`: to its targets. `holding`: they wait for the next
 * route. `stopped`: the response is a page that says so.
 */
export interface AppRoute {
  readonly appId: string;
  /** The app's name, for the access log; absent for the server itself. */
  readonly name?: string;
  /** Exact host names. `*` in `*.example.test` stands for exactly one label. */
  readonly hosts: readonly string[];
  readonly state: 'serving' | 'holding' | 'stopped';
  readonly targets: readonly RouteTarget[];
  /** Milliseconds that a request waits while the state is `holding`. The default is 10 seconds. */
  readonly hold?: number;
  /** How many responses and WebSockets may be open at once. The default is 10,000. */
  readonly maxConnections?: number;
  readonly rules?: RouteRules;
  /** Ports of the host that are not HTTP. */
  readonly ports?: readonly RoutePort[];
  /** Set when the app has moved: its target is the ingress of another server, until this time. */
  readonly forward?: { readonly until: number; readonly token: string };
  /** Set when the app came from another server, which passes requests on with this token. */
  readonly forwarder?: { readonly until: number; readonly digest: string };
}

/** A port of the host that leads to a port of an app's containers. */
export interface RoutePort {
  readonly port: number;
  readonly target: number;
  readonly protocol: 'tcp' | 'udp';
  /** Addresses and ranges that may connect; all if it is not set. */
  readonly allow?: readonly string[];
}

/**
 * Finds the route of a host. The routes are plain data, so that they can be sent to another
 * process.
 */
export interface RouteTable {
  set(route: AppRoute): void;
  remove(appId: string): void;
  get(appId: string): AppRoute | undefined;
  all(): readonly AppRoute[];
  /** The route for a `Host` header; undefined when no app has this host. */
  find(host: string | undefined): AppRoute | undefined;
}

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
 * Reads the name in a `Host` header: lower case, without the port and without a dot at the end.
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

/**
 * How the ingress treats the requests of one app, as plain data, so that it can be sent to another
 * process. A rule that is absent costs nothing.
 */
export interface RouteRules {
  /** Whether responses are compressed. The default is true. */
  readonly compress?: boolean;
  readonly rateLimit?: RateRule;
  /** The most bytes of a request body. */
  readonly maxBody?: number;
  /** Who may enter: names with hashes of their passwords. */
  readonly basicAuth?: readonly { readonly user: string; readonly hash: string }[];
  /** While it is set, requests get a page, except from these addresses. */
  readonly maintenance?: { readonly message: string | null; readonly allow: readonly string[] };
  /** Addresses and ranges. Requests from others are refused. */
  readonly allow?: readonly string[];
  /** Milliseconds without a byte from the app after which its request is given up. */
  readonly timeout?: number;
}

/** `count` requests in `window` milliseconds. `burst` of them may come at once. */
export interface RateRule {
  readonly count: number;
  readonly window: number;
  readonly burst: number;
  readonly by: 'ip' | 'app';
}
