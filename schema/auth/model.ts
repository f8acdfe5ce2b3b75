import type { RateLimit } from '../manifest/quantities.ts';
import type { UserAttribute } from '../model/access.ts';
import type { AuthValues } from './manifest.ts';
import type { PagesModel } from './pages.ts';

/** Keys whose value in the model differs from that in the manifest. All others are copied. */
type Reworded =
  | 'user'
  | 'register'
  | 'extend'
  | 'roles'
  | 'rateLimits'
  | 'routes'
  | 'oauth'
  | 'passkeys'
  | 'impersonation'
  | 'events'
  | 'organizations'
  | 'pages'
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
  /** Absent without organizations. */
  readonly organizations?: Organizations;
  /** `false`: the routes of passkeys do not exist. */
  readonly passkeys: Exclude<AuthValues['passkeys'], true>;
  /** `false`: no administrator can act as a user. */
  readonly impersonation: Exclude<AuthValues['impersonation'], true>;
  /** `false`: links of mails lead to pages of the project's own. */
  readonly pages: PagesModel | false;
}

/**
 * The entity that is the user, and its columns that replace columns of the runtime's side table.
 */
export interface AuthUser {
  /** `null`: users are in the runtime's own `users` table. */
  readonly entity: string | null;
  readonly table: string;
  /** The schema of an adopted table on PostgreSQL. */
  readonly schema?: string;
  /** The names in the database of columns that `@column` renames, by their names in the model. */
  readonly stored?: Readonly<Record<string, string>>;
  /**
   * Attribute → column of the entity's table. Attributes that are not listed are in the side table.
   */
  readonly columns: Readonly<Partial<Record<UserAttribute, string>>>;
  /**
   * Columns of the entity's table that only the auth endpoints write: the address, the username,
   * whether the account is locked, …
   */
  readonly identity: readonly string[];
  /** Required fields of the entity that register takes from its body. */
  readonly registerFields: readonly string[];
}

/** Organizations: rows of an entity, to which users belong with a role. */
export interface Organizations {
  readonly entity: string;
  readonly table: string;
  /** The schema of an adopted table on PostgreSQL. */
  readonly schema?: string;
  /** The names in the database of columns that `@column` renames, by their names in the model. */
  readonly stored?: Readonly<Record<string, string>>;
  /** The column that a person recognises the organization by; null when the type has no `name`. */
  readonly name: string | null;
  /** The column that marks a removed organization. */
  readonly softDelete: string | null;
  /** The roles, highest first. */
  readonly roles: readonly string[];
  readonly manage: readonly string[];
  readonly create: 'user' | 'admin';
  /** Milliseconds for which an invitation is good. */
  readonly invitations: number;
}

export interface OAuthProvider {
  readonly name: string;
  readonly preset: string;
  /** All other settings of the provider, in snake_case as in the manifest. */
  readonly options: Readonly<Record<string, unknown>>;
}
