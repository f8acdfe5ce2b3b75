import { defaultAuth, type AuthModel, type AuthValues } from '@twofold/schema';

/** The values of an empty `auth:` section. */
export const DEFAULT_AUTH: AuthModel = defaultAuth();

/**
 * The model of a project without an `auth:` section, where only the operator signs in. The table of
 * users stays empty, and its name is one that no type of the schema has, so that a type `User` can
 * be added later.
 */
export const WITHOUT_USERS: AuthModel = {
  ...DEFAULT_AUTH,
  user: { ...DEFAULT_AUTH.user, table: 'auth_no_users' },
};

/** Rate limits by policy name. The manifest can change them. */
export const DEFAULT_LIMITS = DEFAULT_AUTH.rateLimits as AuthValues['rateLimits'];

/** Name of a built-in rate limit policy. */
export type PolicyName = keyof typeof DEFAULT_LIMITS;
