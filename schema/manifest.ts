import type { When } from './model.ts';

/**
 * `manifest.yaml` as it is written, with every default of `manifest.schema.json` filled in. Durations, sizes and limits are
 * still text; `build/settings.ts` makes the model's numbers of them.
 */
export interface ManifestValues {
  readonly name: string;
  readonly server: {
    readonly port: number;
    readonly host: string;
    readonly cors: readonly string[];
    readonly trusted_proxies: readonly string[];
    readonly body_limit: Size;
  };
  readonly database: { readonly ids: 'integer' | 'uuid' };
  readonly api: {
    readonly path: string;
    readonly access?: 'user' | 'public';
    readonly crud: boolean;
    readonly rest: boolean;
    readonly limits: {
      readonly depth: number;
      readonly cost: number;
      readonly aliases: number;
      readonly root_fields: number;
      readonly directives: number;
      readonly tokens: number;
      readonly batch: number;
      readonly list: number;
      readonly time: string;
      readonly result: Size;
      readonly memory: Size;
    };
    readonly introspection: When;
    readonly graphiql: When;
    readonly suggestions: When;
    readonly trusted_documents: { readonly file: string; readonly required: boolean } | null;
  };
  /** Absent: off. */
  readonly auth?: AuthValues;
  readonly hosting?: HostingValues;
}

/** Bytes, or text such as `1MiB`. */
export type Size = string | number;

export interface AuthValues {
  readonly profile: 'standard' | 'strict' | 'nist';
  readonly user?: string;
  readonly register: { readonly fields: readonly string[] };
  readonly roles: {
    readonly list: readonly string[];
    readonly default?: string;
    readonly first: string | null;
  } | null;
  readonly jwt: {
    readonly ttl: string;
    readonly leeway: string;
    readonly issuer: string | null;
    readonly audience: string | null;
    readonly max_bytes: number;
  };
  readonly refresh: {
    readonly enabled: boolean;
    readonly idle: string;
    readonly absolute: string;
    readonly grace: string;
    readonly delivery: 'body' | 'cookie';
  };
  readonly password: {
    readonly min: number;
    readonly max: number;
    readonly score: number;
    readonly bcrypt_cost: number;
    readonly context_words: readonly string[];
    readonly hash_concurrency: number | 'auto';
    readonly hash_queue: number;
  };
  readonly lockout: {
    readonly attempts: number;
    readonly window: string;
    readonly duration: string;
    readonly factor: number;
    readonly max: string;
    readonly hard_after: number;
  };
  readonly require_api_key: boolean;
  readonly require_verified_email: boolean;
  readonly enumeration: 'standard' | 'strict';
  readonly rate_limits: Readonly<Record<string, string>>;
  readonly routes: Readonly<Record<string, { readonly limit: string }>>;
  readonly oauth: {
    readonly linking: 'verified' | 'never';
    readonly return_to: readonly string[];
    readonly providers: Readonly<Record<string, Readonly<Record<string, unknown>> | null>>;
  };
  readonly events: {
    readonly webhooks: readonly {
      readonly url: string;
      readonly secret_env: string;
      readonly types: readonly string[];
    }[];
    readonly alert_email: string | null;
    readonly retention: string;
  };
  readonly trusted_proxies?: readonly string[];
}

export interface HostingValues {
  readonly engine: {
    readonly kind: 'auto' | 'docker' | 'podman' | 'swarm';
    readonly socket: string | null;
  };
  readonly domain: string;
  readonly access: 'host' | 'users';
  readonly defaults: {
    readonly port: number;
    readonly memory: Size;
    readonly cpus: number;
    readonly pids: number;
  };
  readonly deploys: {
    readonly keep: number;
    readonly ready_timeout: string;
    readonly drain: string;
  };
  readonly build: {
    readonly timeout: string;
    readonly memory: Size;
    readonly concurrency: number;
    readonly allow_add_url: boolean;
    readonly from: readonly string[];
  };
  readonly source: { readonly max: Size; readonly max_unpacked: Size; readonly entries: number };
  readonly git: { readonly allow_http: boolean; readonly allow_private: boolean };
  readonly ingress: {
    readonly http: number;
    readonly https: number;
    readonly acme: { readonly email: string | null; readonly directory: string | null };
  };
  readonly disk_floor: Size;
  readonly templates: string;
  readonly models: {
    readonly directory: string;
    readonly engine: string;
    readonly list: readonly unknown[];
  };
}
