import { defaultAuth, type AuthModel, type AuthValues } from '@twofold/schema';

/**
 * An `auth:` section with nothing in it. Hosting without one signs its operator in by these
 * numbers.
 */
export const DEFAULT_AUTH: AuthModel = defaultAuth();

/** Limits that hold unless the manifest says otherwise, by policy name. */
export const DEFAULT_LIMITS = DEFAULT_AUTH.rateLimits as AuthValues['rateLimits'];

/** Name of a built-in policy. */
export type PolicyName = keyof typeof DEFAULT_LIMITS;
