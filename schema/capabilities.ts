import type { Project } from './model.ts';
import { authRoutes } from './routes/auth.ts';
import { hostingRoutes } from './routes/hosting.ts';
import { modelRoutes } from './routes/models.ts';
import type { RouteSpec } from './routes/route.ts';

/** What every layer has to know of a capability. Each has a folder of this name in every layer. */
export interface CapabilitySpec {
  readonly name: string;
  /** The package that a project installs for it. */
  readonly package: string;
  /** Whether a project asks for it. */
  isWanted(project: Project): boolean;
  /** The routes that it adds to a project's server. */
  routes(project: Project): readonly RouteSpec[];
}

/** The routes that are left when only the operator of a hosting server signs in. */
const OPERATOR = new Set<string>(['login', 'logout', 'logoutAll', 'sessions', 'endSession']);

/** Every capability, in the order in which a server makes them. A new one is a line here. */
export const capabilities: readonly CapabilitySpec[] = [
  {
    name: 'auth',
    package: '@twofold/auth',
    // The operator of a hosting server signs in too.
    isWanted: ({ auth, hosting }) => auth !== null || hosting !== null,
    routes: ({ auth }) => (auth ? authRoutes : authRoutes.filter(({ id }) => OPERATOR.has(id))),
  },
  {
    name: 'hosting',
    package: '@twofold/hosting',
    isWanted: ({ hosting }) => hosting !== null,
    routes: () => hostingRoutes,
  },
  {
    name: 'models',
    package: '@twofold/models',
    isWanted: ({ hosting }) => hosting !== null,
    routes: () => modelRoutes,
  },
];

/**
 * The capabilities that a project asks for.
 *
 * @example capabilitiesOf(project).map(({ package: name }) => name) // ['@twofold/auth']
 */
export function capabilitiesOf(project: Project): readonly CapabilitySpec[] {
  return capabilities.filter((capability) => capability.isWanted(project));
}
