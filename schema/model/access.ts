export type Allow = 'PUBLIC' | 'USER' | 'OWNER' | 'ROLE' | 'API_KEY';

export type Verb = 'READ' | 'CREATE' | 'UPDATE' | 'DELETE';

/** One `@auth`. Several on one type or field are alternatives. */
export interface AuthRule {
  readonly allow: readonly Allow[];
  readonly roles: readonly string[];
  /** Column that holds the owner's user id, when `OWNER` is allowed. */
  readonly owner?: string;
  readonly on: readonly Verb[];
  /**
   * A default of the user's type, which is not written in the schema. A rule of a root field
   * replaces it, and a key that acts for no user passes within its scopes.
   */
  readonly implied?: true;
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
  'last_login',
  'email_verified_at',
  'created_at',
  'updated_at',
] as const;

export type UserAttribute = (typeof USER_ATTRIBUTES)[number];
