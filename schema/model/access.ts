import type { Condition } from './condition.ts';

export type Allow = 'PUBLIC' | 'USER' | 'OWNER' | 'ROLE' | 'TENANT' | 'API_KEY';

export type Verb = 'READ' | 'CREATE' | 'UPDATE' | 'DELETE';

/** One `@auth`. Several on one type or field are alternatives. */
export interface AuthRule {
  readonly allow: readonly Allow[];
  readonly roles: readonly string[];
  /** Column that holds the owner's user id, when `OWNER` is allowed. */
  readonly owner?: string;
  /** The way to the owner over other rows, when `owner` is a path. */
  readonly ownedBy?: Condition;
  /** Where a row names its organization, when `TENANT` is allowed. */
  readonly tenant?: TenantPath;
  /** What the row must be like as well. */
  readonly where?: Condition;
  readonly on: readonly Verb[];
  /**
   * A default of the user's type, which is not written in the schema. A rule of a root field
   * replaces it, and a key that acts for no user passes within its scopes.
   */
  readonly implied?: true;
}

/** The way from a row to the organization that it belongs to. */
export interface TenantPath {
  /** The to-one keys on the way: a column, and the entity that it refers to. */
  readonly through: readonly { readonly column: string; readonly entity: string }[];
  /** Holds the organization's key, in the last row of the way; `id` for an organization itself. */
  readonly column: string;
  /** For users, who belong to organizations by the table of memberships. */
  readonly members?: Memberships;
  /** For an organization itself: who belongs to it, as of now. */
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
