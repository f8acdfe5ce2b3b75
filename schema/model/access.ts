import type { Condition } from './condition.ts';

export type Allow = 'PUBLIC' | 'USER' | 'OWNER' | 'ROLE' | 'TENANT' | 'API_KEY';

export type Verb = 'READ' | 'CREATE' | 'UPDATE' | 'DELETE';

/** One `@auth`. If a type or field has several, one of them is enough. */
export interface AuthRule {
  readonly allow: readonly Allow[];
  readonly roles: readonly string[];
  /** Column that holds the owner's user id, when `OWNER` is allowed. */
  readonly owner?: string;
  /** The path to the owner through other rows, when `owner` is a path. */
  readonly ownedBy?: Condition;
  /** The path from a row to its organization, when `TENANT` is allowed. */
  readonly tenant?: TenantPath;
  /** A further condition on the row. */
  readonly where?: Condition;
  readonly on: readonly Verb[];
  /**
   * A default of the user's type, which is not written in the schema. A rule of a root field
   * replaces it, and a key that acts for no user passes within its scopes.
   */
  readonly implied?: true;
}

/** The path from a row to its organization. */
export interface TenantPath {
  /** The foreign keys on the path: each a column, and the entity that it refers to. */
  readonly through: readonly { readonly column: string; readonly entity: string }[];
  /**
   * The column with the organization's key, in the last row of the path; `id` for an organization
   * itself.
   */
  readonly column: string;
  /** Set for users, who belong to organizations by the table of memberships. */
  readonly members?: Memberships;
  /** Set for an organization itself: its present members. */
  readonly memberships?: Memberships;
}

/** The table of memberships. */
export interface Memberships {
  readonly table: string;
  readonly user: string;
  readonly organization: string;
}

/** Attributes of users that may be columns of the user's own type, in snake_case or camelCase. */
export const USER_ATTRIBUTES = [
  'email',
  'name',
  'first_name',
  'last_name',
  'username',
  'phone',
  'avatar_url',
  'locale',
  'last_login',
  'email_verified_at',
  'created_at',
  'updated_at',
] as const;

export type UserAttribute = (typeof USER_ATTRIBUTES)[number];
