import type { AuthModel, RateLimit } from '@twofold/schema';
import { DAY, HOUR, MINUTE, SECOND } from './time.ts';

const perMinute = (count: number): RateLimit => ({ count, window: MINUTE });

/** Limits that hold unless the manifest says otherwise, by policy name. */
export const DEFAULT_LIMITS = {
  'global-ip': perMinute(600),
  'auth-ip': perMinute(200),
  'login-ip': perMinute(60),
  'login-failed-ip': { count: 20, window: 5 * MINUTE },
  'login-identifier': perMinute(30),
  'register-ip': perMinute(60),
  'forgot-ip': perMinute(20),
  'forgot-identifier': { count: 3, window: HOUR },
  'resend-identifier': { count: 1, window: 3 * MINUTE },
  'mail-identifier': { count: 5, window: HOUR },
  'reset-ip': perMinute(20),
  'refresh-session': perMinute(30),
  'refresh-ip': { count: 150, window: 5 * MINUTE },
  'oauth-ip': perMinute(30),
  'strength-ip': perMinute(10),
  'host-failed': { count: 100, window: HOUR },
  user: perMinute(600),
  'api-key': perMinute(1200),
  admin: perMinute(120),
} as const satisfies Record<string, RateLimit>;

/** Name of a built-in policy. */
export type PolicyName = keyof typeof DEFAULT_LIMITS;

/** An `auth:` section with nothing in it. Hosting without one signs its operator in by these numbers. */
export const DEFAULT_AUTH: AuthModel = {
  profile: 'standard',
  user: {
    entity: null,
    table: 'users',
    columns: { email: 'email', created_at: 'created_at', updated_at: 'updated_at' },
    identity: ['email'],
    registerFields: [],
  },
  roles: null,
  jwt: { ttl: 24 * HOUR, leeway: 0, issuer: null, audience: null, maxBytes: 8192 },
  refresh: {
    enabled: true,
    idle: 7 * DAY,
    absolute: 30 * DAY,
    grace: 10 * SECOND,
    delivery: 'body',
  },
  password: {
    min: 8,
    max: 256,
    score: 2,
    bcryptCost: 10,
    contextWords: [],
    hashConcurrency: 'auto',
    hashQueue: 64,
  },
  lockout: {
    attempts: 5,
    window: 15 * MINUTE,
    duration: 15 * MINUTE,
    factor: 2,
    max: DAY,
    hardAfter: 100,
  },
  requireApiKey: false,
  requireVerifiedEmail: false,
  enumeration: 'standard',
  rateLimits: {},
  oauth: { linking: 'verified', returnTo: [], providers: [] },
  events: { webhooks: [], alertEmail: null, retention: 90 * DAY },
};
