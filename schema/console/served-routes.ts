import type { Project } from '../model.ts';
import type { RouteSpec } from '../routes/route.ts';
import { DESCRIBED_BY_HOSTING } from './routes/operations.ts';

/** Whether the console of a project serves a route, or leaves it to hosting. */
export const isConsoleRouteServed = ({ id }: RouteSpec, { hosting }: Project): boolean =>
  !hosting || !DESCRIBED_BY_HOSTING.includes(id);
