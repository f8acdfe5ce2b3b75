import type { CapabilitySpec } from '../capability.ts';
import type { Project } from '../model.ts';
import { ADMIN_DATA, adminDataRoutes } from '../routes/admin-data.ts';
import { buildConsole, defaultsOfConsole } from './build.ts';
import { consoleRoutes, isConsoleRouteServed } from './routes.ts';
import { settings } from './rules/settings.ts';

const adminDataOf = ({ console: model }: Project) => model?.adminData ?? 'never';

/** The web application for the people who run the server. */
export const consoleCapability: CapabilitySpec = {
  name: 'console',
  package: '@twofold/console',
  isWanted: ({ console: wanted }) => wanted !== null,
  opens: () => ['audit', 'jobs'],
  // Signing in needs packages of its own, which a project without users installs for this only.
  inProduction: ({ auth, hosting, console: model }) =>
    auth !== null || hosting !== null || model?.enabled === 'always',
  build: buildConsole,
  defaults: defaultsOfConsole,
  manifestRules: [settings],
  routes: [...consoleRoutes, ...adminDataRoutes],
  isServed: (route, project) =>
    route.path === ADMIN_DATA
      ? adminDataOf(project) !== 'never'
      : isConsoleRouteServed(route, project),
  adminData: adminDataOf,
};
