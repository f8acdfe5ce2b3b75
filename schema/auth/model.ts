import type { RateLimit } from '../manifest/quantities.ts';
import type { UserAttribute } from '../model/access.ts';
import type { AuthValues } from './manifest.ts';

/** What the model says in its own words. Everything else is as the manifest has it. */
type Reworded =
  | 'user'
  | 'register'
  | 'roles'
  | 'rateLimits'
  | 'routes'
  | 'oauth'
  | 'events'
  | 'trustedProxies';

/** `auth:` of the manifest, with every default filled in; times in milliseconds. */
export interface AuthModel extends Omit<AuthValues, Reworded> {
  readonly user: AuthUser;
  readonly roles: {
    readonly list: readonly string[];
    readonly default: string;
    readonly first: string | null;
  } | null;
  readonly rateLimits: Readonly<Record<string, RateLimit>>;
  /** Limits of single routes, by `METHOD /path`; absent when there are none. */
  readonly routeLimits?: Readonly<
    Record<string, RateLimit & { readonly by: 'ip' | 'user' | 'key' }>
  >;
  readonly oauth: Omit<AuthValues['oauth'], 'providers'> & {
    readonly providers: readonly OAuthProvider[];
  };
  readonly events: Omit<AuthValues['events'], 'listeners'>;
}

/**
 * Which entity is a user, and which of its columns the module uses in place of the side table's.
 */
export interface AuthUser {
  /** `null`: the runtime keeps a `users` table of its own. */
  readonly entity: string | null;
  readonly table: string;
  /** Attribute → column of the entity's table. What is absent stands in the side table. */
  readonly columns: Readonly<Partial<Record<UserAttribute, string>>>;
  /**
   * Columns of the entity's table that only the flows of signing in write: the address, the
   * username, what says locked, …
   */
  readonly identity: readonly string[];
  /** Required fields of the entity that register takes from its body. */
  readonly registerFields: readonly string[];
}

export interface OAuthProvider {
  readonly name: string;
  readonly preset: string;
  /** Everything else the manifest says of it, in snake_case as written there. */
  readonly options: Readonly<Record<string, unknown>>;
}
