import type { RouteSpec } from '../routes/route.ts';
import type { AuthModel } from './model.ts';
import { isOrganizationRoute } from './organization-routes.ts';
import { passkeyRoutes } from './passkey-routes.ts';

/** The routes that remain when only the operator of a hosting server signs in. */
const OPERATOR = new Set<string>([
  'login',
  'logout',
  'logoutAll',
  'sessions',
  'renameSession',
  'endSession',
]);

const PASSKEYS = new Set<string>(passkeyRoutes.map(({ id }) => id));
const EMAIL_SIGN_IN = new Set<string>(['emailSignIn', 'completeEmailSignIn']);
const SECOND_FACTOR = new Set<string>([
  'startTotp',
  'confirmTotp',
  'removeTotp',
  'createRecoveryCodes',
  'devices',
  'renameDevice',
  'forgetDevice',
]);

/**
 * Whether the settings of the manifest switch a route on. The server has exactly these routes, and
 * its OpenAPI document describes exactly these.
 *
 * @param auth null when only the operator signs in.
 * @param refreshes whether the operator's sessions of an application of the server are renewed.
 * @example isAuthRouteServed({ id: 'emailSignIn' }, auth) // false unless `email_sign_in` is set
 */
export function isAuthRouteServed(
  { id }: Pick<RouteSpec, 'id'>,
  auth: AuthModel | null,
  refreshes = false,
): boolean {
  if (auth === null) return OPERATOR.has(id) || (refreshes && id === 'refresh');
  if (PASSKEYS.has(id)) return auth.passkeys !== false;
  if (isOrganizationRoute({ id })) return auth.organizations !== undefined;
  if (EMAIL_SIGN_IN.has(id)) return auth.emailSignIn !== 'off';
  return !SECOND_FACTOR.has(id) || auth.secondFactor.mode !== 'off';
}
