/** What the GraphQL and REST surface does, with sizes in bytes and times in milliseconds. */
export interface Api {
  readonly path: string;
  readonly access: 'user' | 'public';
  readonly crud: boolean;
  readonly rest: boolean;
  readonly limits: ApiLimits;
  readonly introspection: When;
  readonly graphiql: When;
  readonly suggestions: When;
  readonly trustedDocuments: { readonly file: string; readonly required: boolean } | null;
}

export type When = 'always' | 'development' | 'never';

export interface ApiLimits {
  readonly depth: number;
  readonly cost: number;
  readonly aliases: number;
  readonly rootFields: number;
  readonly directives: number;
  readonly tokens: number;
  readonly batch: number;
  readonly list: number;
  readonly time: number;
  /** Bytes of one answer. */
  readonly result: number;
  /** Bytes of all answers that are in the making. */
  readonly memory: number;
}

export interface ServerOptions {
  readonly port: number;
  readonly host: string;
  readonly cors: readonly string[];
  readonly trustedProxies: readonly string[];
  /** Bytes. */
  readonly bodyLimit: number;
}

/** A sliding window: at most `count` in `window` milliseconds. */
export interface RateLimit {
  readonly count: number;
  readonly window: number;
}

/** `auth:` of the manifest, with every default filled in; times in milliseconds. */
export interface AuthModel {
  readonly profile: 'standard' | 'strict' | 'nist';
  readonly user: AuthUser;
  readonly roles: {
    readonly list: readonly string[];
    readonly default: string;
    readonly first: string | null;
  } | null;
  readonly jwt: {
    readonly ttl: number;
    readonly leeway: number;
    readonly issuer: string | null;
    readonly audience: string | null;
    readonly maxBytes: number;
  };
  readonly refresh: {
    readonly enabled: boolean;
    readonly idle: number;
    readonly absolute: number;
    readonly grace: number;
    readonly delivery: 'body' | 'cookie';
  };
  readonly password: {
    readonly min: number;
    readonly max: number;
    readonly score: number;
    readonly bcryptCost: number;
    readonly contextWords: readonly string[];
    readonly hashConcurrency: number | 'auto';
    readonly hashQueue: number;
  };
  readonly lockout: {
    readonly attempts: number;
    readonly window: number;
    readonly duration: number;
    readonly factor: number;
    readonly max: number;
    readonly hardAfter: number;
  };
  readonly requireApiKey: boolean;
  readonly requireVerifiedEmail: boolean;
  readonly enumeration: 'standard' | 'strict';
  readonly rateLimits: Readonly<Record<string, RateLimit>>;
  /** Limits of single routes, by `METHOD /path`; absent when there are none. */
  readonly routeLimits?: Readonly<
    Record<string, RateLimit & { readonly by: 'ip' | 'user' | 'key' }>
  >;
  readonly oauth: {
    readonly linking: 'verified' | 'never';
    readonly returnTo: readonly string[];
    readonly providers: readonly OAuthProvider[];
  };
  readonly events: {
    readonly webhooks: readonly {
      readonly url: string;
      readonly secretEnv: string;
      readonly types: readonly string[];
    }[];
    readonly alertEmail: string | null;
    readonly retention: number;
  };
}

/** Which entity is a user, and which of its columns the module uses in place of the side table's. */
export interface AuthUser {
  /** `null`: the runtime keeps a `users` table of its own. */
  readonly entity: string | null;
  readonly table: string;
  /** Attribute → column of the entity's table. What is absent stands in the side table. */
  readonly columns: Readonly<Partial<Record<UserAttribute, string>>>;
  /** Columns of the entity's table that only the flows of signing in write: the address, the username, what says locked, … */
  readonly identity: readonly string[];
  /** Required fields of the entity that register takes from its body. */
  readonly registerFields: readonly string[];
}

export type UserAttribute =
  | 'email'
  | 'name'
  | 'first_name'
  | 'last_name'
  | 'username'
  | 'phone'
  | 'avatar_url'
  | 'last_login'
  | 'email_verified_at'
  | 'created_at'
  | 'updated_at';

export interface OAuthProvider {
  readonly name: string;
  readonly preset: string;
  /** Everything else the manifest says of it, in snake_case as written there. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** `hosting:` of the manifest, with every default filled in; sizes in bytes, times in milliseconds. */
export interface HostingModel {
  readonly engine: {
    readonly kind: 'auto' | 'docker' | 'podman' | 'swarm';
    readonly socket: string | null;
  };
  readonly domain: string;
  readonly access: 'host' | 'users';
  readonly defaults: {
    readonly port: number;
    readonly memory: number;
    readonly cpus: number;
    readonly pids: number;
  };
  readonly deploys: {
    readonly keep: number;
    readonly readyTimeout: number;
    readonly drain: number;
  };
  readonly build: {
    readonly timeout: number;
    readonly memory: number;
    readonly concurrency: number;
    readonly allowAddUrl: boolean;
    readonly from: readonly string[];
  };
  readonly source: { readonly max: number; readonly maxUnpacked: number; readonly entries: number };
  readonly git: { readonly allowHttp: boolean; readonly allowPrivate: boolean };
  readonly ingress: {
    readonly http: number;
    readonly https: number;
    readonly acme: { readonly email: string | null; readonly directory: string | null };
  };
  readonly diskFloor: number;
  readonly templates: string;
  readonly models: {
    readonly directory: string;
    readonly engine: string;
    readonly list: readonly unknown[];
  };
}
