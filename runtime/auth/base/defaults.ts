import { type AuthModel, type AuthValues, defaultAuth } from '@twofold/schema';

/** The values of an empty `auth:` section, and where only the operator signs in. */
export const DEFAULT_AUTH: AuthModel = defaultAuth();

/** Rate limits by policy name. The manifest can change them. */
export const DEFAULT_LIMITS = DEFAULT_AUTH.rateLimits as AuthValues['rateLimits'];

/** Name of a built-in rate limit policy. */
export type PolicyName = keyof typeof DEFAULT_LIMITS;
