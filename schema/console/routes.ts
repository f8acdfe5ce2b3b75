import type { Project } from '../model.ts';
import { namedRoutes } from '../routes/described-route.ts';
import type { RouteSpec } from '../routes/route.ts';

/** The endpoints of the console by name; `runtime/console/flows` describes each. */
export const consoleRoutes = namedRoutes('console', [
  'GET /api/console',
  'GET /api/system/schema',
  'GET /api/system/info',
  'GET /api/system/config',
  'GET /api/system/settings',
  'GET /api/system/logs',
  'GET /api/system/metrics',
  'POST /api/system/explain',
  'GET /api/system/migrations',
]);

/** With hosting, hosting describes the server, with more information. */
const DESCRIBED_BY_HOSTING: readonly string[] = ['/api/system/info', '/api/system/config'];

/** Whether the console of a project serves a route, or leaves it to hosting. */
export const isConsoleRouteServed = ({ path }: RouteSpec, { hosting }: Project): boolean =>
  !hosting || !DESCRIBED_BY_HOSTING.includes(path);
