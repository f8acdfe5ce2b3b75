import { flowsOf } from '@twofold/runtime/http';
import type { AuthState } from '../state.ts';
import { ERROR, LOGIN, MESSAGE, STEP } from './shapes.ts';

const refused = { description: '', schema: ERROR };

/**
 * How a flow of auth is written. `needs: 'session'` asks for a bearer token; `user` also accepts a
 * key that acts for a user; `proof` asks for a recent proof as well.
 */
export const flow = flowsOf<AuthState>({ tag: 'auth', refused });

/** A flow of organizations, their members and invitations. */
export const organizationFlow = flowsOf<AuthState>({ tag: 'organizations', refused });

/**
 * A flow of management, for an API key with the scope `auth:manage`, or a user with that permission.
 * With `audit: { atomic }` the entry of the audit log is written in one transaction with the change.
 */
export const adminFlow = flowsOf<AuthState>({
  tag: 'auth-admin',
  refused,
  refuses: { 401: 'API key required', 403: 'Forbidden' },
});

/** A sign-in that has a step left. */
export const STEP_LEFT = {
  202: ['A step is left: a second factor, or another password', STEP],
} as const;
export const LOGGED_IN = { 200: ['The login object', LOGIN] } as const;
export const DONE = { 200: ['Done', MESSAGE] } as const;

export const SIGNED_IN = { 401: 'No valid bearer token' } as const;
export const PROOF = { ...SIGNED_IN, 403: 'Reauthentication required' } as const;
export const UNPROVEN = {
  400: 'Invalid or expired token',
  403: 'Reauthentication required',
} as const;
/** Of an organization, by its members, and by those of its roles that manage it. */
export const UNKNOWN = { ...SIGNED_IN, 404: 'Organization not found' } as const;
export const MANAGED = { ...UNKNOWN, 403: 'Not by this role' } as const;
