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
