import type { CapabilitySpec } from '../capability.ts';
import { buildConsole } from './build.ts';
import { consoleRoutes } from './routes/index.ts';
import { isConsoleRouteServed } from './served-routes.ts';
import { settings } from './rules/settings.ts';

/** The web application for the people who run the server. */
export const consoleCapability: CapabilitySpec = {
  name: 'console',
  package: '@twofold/console',
  isWanted: ({ console: wanted }) => wanted !== null,
  opens: () => ['audit', 'jobs'],
  build: buildConsole,
  manifestRules: [settings],
  routes: consoleRoutes,
  isServed: isConsoleRouteServed,
};
