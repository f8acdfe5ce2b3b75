import type { CapabilitySpec } from '../capability.ts';
import { buildAuth, defaultsOfAuth } from './build.ts';
import { authRoutes, isAuthRouteServed } from './routes.ts';
import { access } from './rules/access.ts';
import { addresses } from './rules/addresses.ts';
import { identityColumns } from './rules/identity-columns.ts';
import { oauthProviders } from './rules/oauth-providers.ts';
import { organizations } from './rules/organizations.ts';
import { openTypes } from './rules/open-types.ts';
import { tenants } from './rules/tenants.ts';
import { uniqueRows } from './rules/unique.ts';
import { settings } from './rules/settings.ts';
import { theme } from './rules/theme.ts';
import { unindexed } from './rules/unindexed.ts';
import { userType } from './rules/user-type.ts';

/** Sign-in. */
export const authCapability: CapabilitySpec = {
  name: 'auth',
  package: '@twofold/auth',
  // The operator of a hosting server or of the console signs in too.
  isWanted: (project) =>
    project.auth !== null || project.hosting !== null || project.console !== null,
  inProduction: ({ auth, hosting, console: model }) =>
    auth !== null || hosting !== null || model?.enabled === 'always',
  signsIn: ({ auth }) => auth !== null,
  opens: ({ auth }) => (auth === null ? [] : ['jobs']),
  build: buildAuth,
  defaults: defaultsOfAuth,
  schemaRules: [access, unindexed, tenants, uniqueRows, identityColumns, openTypes],
  manifestRules: [userType, organizations, settings, oauthProviders, addresses, theme],
  routes: authRoutes,
  isServed: (route, project) => isAuthRouteServed(route, project.auth, project.console !== null),
};
