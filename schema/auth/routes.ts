import { namedRoutes } from '../routes/described-route.ts';
import type { Method, RouteSpec } from '../routes/route.ts';
import type { AuthModel } from './model.ts';

type Name = `${Method} /${string}`;

/** The routes that remain when only the operator of a hosting server signs in. */
const OPERATOR: readonly Name[] = [
  'POST /api/auth/login',
  'POST /api/auth/logout',
  'POST /api/auth/logout-all',
  'GET /api/auth/sessions',
  'PATCH /api/auth/sessions/:id',
  'DELETE /api/auth/sessions/:id',
];

const REFRESH: Name = 'POST /api/auth/refresh';

/** The routes that are there with `auth:`, whatever it says. */
const USERS: readonly Name[] = [
  'POST /api/auth/register',
  'POST /api/auth/setup',
  'POST /api/auth/verify-email',
  'POST /api/auth/resend-verification',
  'GET /api/auth/me',
  'PATCH /api/auth/me',
  'DELETE /api/auth/me',
  'POST /api/auth/restore',
  'GET /api/auth/me/export',
  'GET /api/auth/security',
  'POST /api/auth/reauthenticate',
  'POST /api/auth/change-email',
  'POST /api/auth/change-password',
  'GET /api/auth/password-policy',
  'POST /api/auth/password-strength',
  'POST /api/auth/forgot-password',
  'POST /api/auth/reset-password',
  'POST /api/auth/unlock',
  'POST /api/auth/api-keys',
  'GET /api/auth/api-keys',
  'PATCH /api/auth/api-keys/:id',
  'DELETE /api/auth/api-keys/:id',
  'POST /api/auth/link',
  'GET /api/auth/identities',
  'DELETE /api/auth/identities/:provider',
  'GET /api/oauth/:provider',
  'GET /api/oauth/:provider/callback',
  'POST /api/oauth/:provider/callback',
  'POST /api/oauth/exchange',
  'POST /api/oauth/:provider',
  'POST /api/auth/second-factor',
];

const EMAIL_SIGN_IN: readonly Name[] = [
  'POST /api/auth/email-sign-in',
  'POST /api/auth/email-sign-in/complete',
];

const SECOND_FACTOR: readonly Name[] = [
  'POST /api/auth/totp',
  'POST /api/auth/totp/confirm',
  'DELETE /api/auth/totp',
  'POST /api/auth/recovery-codes',
  'GET /api/auth/devices',
  'PATCH /api/auth/devices/:id',
  'DELETE /api/auth/devices/:id',
];

const PASSKEYS: readonly Name[] = [
  'POST /api/auth/passkeys/options',
  'POST /api/auth/passkeys',
  'POST /api/auth/passkeys/login/options',
  'POST /api/auth/passkeys/login',
  'POST /api/auth/second-factor/options',
  'POST /api/auth/reauthenticate/options',
  'GET /api/auth/passkeys',
  'PATCH /api/auth/passkeys/:id',
  'DELETE /api/auth/passkeys/:id',
];

const ORGANIZATIONS: readonly Name[] = [
  'GET /api/auth/organizations',
  'POST /api/auth/organizations',
  'GET /api/auth/organizations/:id/members',
  'PATCH /api/auth/organizations/:id/members/:user_id',
  'DELETE /api/auth/organizations/:id/members/:user_id',
  'GET /api/auth/organizations/:id/invitations',
  'POST /api/auth/organizations/:id/invitations',
  'DELETE /api/auth/organizations/:id/invitations/:invitation_id',
  'POST /api/auth/invitations/accept',
  'POST /api/auth/invitations/decline',
];

/** For an API key with the scope `auth:manage`, or a user with that permission. */
const MANAGEMENT: readonly Name[] = [
  'POST /api/auth/admin/api-keys',
  'GET /api/auth/admin/api-keys',
  'PATCH /api/auth/admin/api-keys/:id',
  'POST /api/auth/admin/api-keys/:id/rotate',
  'DELETE /api/auth/admin/api-keys/:id',
  'POST /api/auth/admin/tokens/revoke',
  'POST /api/auth/admin/introspect',
  'GET /api/auth/admin/users',
  'POST /api/auth/admin/users',
  'GET /api/auth/admin/users/:id',
  'POST /api/auth/admin/users/:id/unlock',
  'POST /api/auth/admin/users/:id/disable',
  'POST /api/auth/admin/users/:id/enable',
  'POST /api/auth/admin/users/:id/reset-password',
  'POST /api/auth/admin/users/:id/require-password-change',
  'DELETE /api/auth/admin/users/:id/second-factor',
  'POST /api/auth/admin/users/:id/restore',
  'POST /api/auth/admin/users/:id/impersonate',
  'DELETE /api/auth/admin/users/:id',
  'GET /api/auth/admin/users/:id/sessions',
  'DELETE /api/auth/admin/users/:id/sessions/:sid',
  'DELETE /api/auth/admin/users/:id/sessions',
  'PUT /api/auth/admin/users/:id/role',
  'GET /api/auth/admin/roles',
  'POST /api/auth/admin/roles',
  'PUT /api/auth/admin/roles/:id',
  'DELETE /api/auth/admin/roles/:id',
  'PUT /api/auth/admin/roles/:id/permissions/:name',
  'DELETE /api/auth/admin/roles/:id/permissions/:name',
  'GET /api/auth/admin/permissions',
  'GET /api/auth/admin/login-attempts',
  'GET /api/auth/admin/security-events',
  'GET /api/auth/admin/permission-changes',
  'GET /api/auth/admin/webhooks',
  'POST /api/auth/admin/webhooks',
  'POST /api/auth/admin/webhooks/:id/rotate',
  'DELETE /api/auth/admin/webhooks/:id',
  'POST /api/auth/admin/webhooks/:id/test',
  'PATCH /api/auth/admin/webhooks/:id',
  'GET /api/auth/admin/webhooks/:id/deliveries',
  'POST /api/auth/admin/webhooks/:id/deliveries/:did/redeliver',
];

/** Every endpoint under `/api/auth` and `/api/oauth` by name; `runtime/auth/flows` describes each. */
export const authRoutes = namedRoutes('auth', [
  ...[...OPERATOR, REFRESH, ...USERS, ...EMAIL_SIGN_IN, ...SECOND_FACTOR, ...PASSKEYS],
  ...[...ORGANIZATIONS, ...MANAGEMENT],
]);

/**
 * Whether the settings of the manifest switch a route on. The server has exactly these routes, and
 * its OpenAPI document describes exactly these.
 *
 * @param auth null when only the operator signs in.
 * @param refreshes whether the operator's sessions of an application of the server are renewed.
 * @example isAuthRouteServed({ method: 'POST', path: '/api/auth/email-sign-in' }, auth) // false unless `email_sign_in` is set
 */
export function isAuthRouteServed(
  { method, path }: Pick<RouteSpec, 'method' | 'path'>,
  auth: AuthModel | null,
  refreshes = false,
): boolean {
  const name = `${method} ${path}` as Name;
  if (auth === null) return OPERATOR.includes(name) || (refreshes && name === REFRESH);
  if (PASSKEYS.includes(name)) return auth.passkeys !== false;
  if (ORGANIZATIONS.includes(name)) return auth.organizations !== undefined;
  if (EMAIL_SIGN_IN.includes(name)) return auth.emailSignIn !== 'off';
  return !SECOND_FACTOR.includes(name) || auth.secondFactor.mode !== 'off';
}
