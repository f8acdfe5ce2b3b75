import type { CapabilitySpec } from '../capability.ts';
import { buildAuth } from './build.ts';
import { passkeyRoutes } from './passkey-routes.ts';
import { isOrganizationRoute } from './organization-routes.ts';
import { authRoutes } from './routes.ts';
import { access } from './rules/access.ts';
import { addresses } from './rules/addresses.ts';
import { identityColumns } from './rules/identity-columns.ts';
import { oauthProviders } from './rules/oauth-providers.ts';
import { organizations } from './rules/organizations.ts';
import { openTypes } from './rules/open-types.ts';
import { tenants } from './rules/tenants.ts';
import { settings } from './rules/settings.ts';
import { theme } from './rules/theme.ts';
import { userType } from './rules/user-type.ts';

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

const EMAIL_SIGN_IN = new Set(['emailSignIn', 'completeEmailSignIn']);

/** Sign-in. */
export const authCapability: CapabilitySpec = {
  name: 'auth',
  package: '@twofold/auth',
  // The operator of a hosting server signs in too.
  isWanted: ({ auth, hosting }) => auth !== null || hosting !== null,
  signsIn: ({ auth }) => auth !== null,
  build: buildAuth,
  schemaRules: [access, tenants, identityColumns, openTypes],
  manifestRules: [userType, organizations, settings, oauthProviders, addresses, theme],
  routes: authRoutes,
  isServed: ({ id }, { auth }) => {
    if (auth === null) return OPERATOR.has(id);
    if (PASSKEYS.has(id)) return auth.passkeys !== false;
    if (EMAIL_SIGN_IN.has(id)) return auth.emailSignIn !== 'off';
    return !isOrganizationRoute({ id }) || auth.organizations !== undefined;
  },
};
