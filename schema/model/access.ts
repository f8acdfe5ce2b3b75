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
   * The schema does not say it: it is the default of the user's type. A rule of a root field takes
   * its place, and a key that acts for no user passes, as far as its scopes go.
   */
  readonly implied?: true;
}

/**
 * What signing in may keep of a user in a column of the user's own type, in snake_case or
 * camelCase.
 */
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
