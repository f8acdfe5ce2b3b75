// Generated from schema.graphql and manifest.yaml. Do not edit: `npm run generate` writes it again.

import type { AuthModel } from '@twofold/auth';
import { duration } from '@twofold/runtime';

/** How people sign in: the manifest's `auth` section with every default filled in. */
export const authSettings: AuthModel = {
  profile: 'standard',
  roles: { list: ['Owner', 'Administrator', 'Member', 'Viewer'], default: 'Member', first: 'Owner' },
  jwt: { ttl: duration('1d'), leeway: duration('0ms'), issuer: null, audience: null, maxBytes: 8192 },
  refresh: {
    enabled: true,
    idle: duration('7d'),
    absolute: duration('30d'),
    grace: duration('10s'),
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
    breached: null,
  },
  account: { delete: true, grace: duration('14d') },
  passkeys: { rpId: null, origins: [] },
  lockout: {
    attempts: 5,
    window: duration('15m'),
    duration: duration('15m'),
    factor: 2,
    max: duration('1d'),
    hardAfter: 100,
  },
  requireApiKey: false,
  requireVerifiedEmail: false,
  enumeration: 'standard',
  rateLimits: {
    'global-ip': { count: 600, window: duration('1m') },
    'auth-ip': { count: 200, window: duration('1m') },
    'login-ip': { count: 60, window: duration('1m') },
    'login-failed-ip': { count: 20, window: duration('5m') },
    'login-identifier': { count: 30, window: duration('1m') },
    'register-ip': { count: 60, window: duration('1m') },
    'forgot-ip': { count: 20, window: duration('1m') },
    'forgot-identifier': { count: 3, window: duration('1h') },
    'resend-identifier': { count: 1, window: duration('3m') },
    'mail-identifier': { count: 5, window: duration('1h') },
    'reset-ip': { count: 20, window: duration('1m') },
    'refresh-session': { count: 30, window: duration('1m') },
    'refresh-ip': { count: 150, window: duration('5m') },
    'oauth-ip': { count: 30, window: duration('1m') },
    'strength-ip': { count: 10, window: duration('1m') },
    'host-failed': { count: 100, window: duration('1h') },
    user: { count: 600, window: duration('1m') },
    'api-key': { count: 1200, window: duration('1m') },
    admin: { count: 120, window: duration('1m') },
  },
  oauth: {
    linking: 'verified',
    returnTo: [],
    providers: [
      { name: 'google', preset: 'google', options: { id_token: false } },
      { name: 'github', preset: 'github', options: { id_token: false } },
      { name: 'facebook', preset: 'facebook', options: { id_token: false } },
    ],
  },
  events: { webhooks: [], alertEmail: null, retention: duration('90d') },
  user: {
    entity: 'User',
    table: 'users',
    columns: { name: 'name', email: 'email' },
    identity: ['email'],
    registerFields: [],
  },
};
