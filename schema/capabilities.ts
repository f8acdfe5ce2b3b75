import { authCapability } from './auth/index.ts';
import type { CapabilitySpec, CorePart } from './capability.ts';
import { consoleCapability } from './console/index.ts';
import { hostingCapability } from './hosting/index.ts';
import type { Project, When } from './model.ts';
import { modelsCapability } from './models/index.ts';
import type { RouteSpec } from './routes/route.ts';

/**
 * Every capability, in the order in which a server creates them. A new capability is a line here
 * and one in `sections.ts`.
 */
export const capabilities: readonly CapabilitySpec[] = [
  authCapability,
  hostingCapability,
  modelsCapability,
  consoleCapability,
];

/**
 * The capabilities that a project uses.
 *
 * @example capabilitiesOf(project).map(({ package: name }) => name) // ['@twofold/auth']
 */
export function capabilitiesOf(project: Project): readonly CapabilitySpec[] {
  return capabilities.filter((capability) => capability.isWanted(project));
}

/**
 * The capabilities of a project whose packages its server needs in production, too.
 *
 * @example isNeededIn(project, 'auth') // false: only the console of development signs in
 */
export function isNeededIn(project: Project, name: string): boolean {
  return capabilitiesOf(project).some(
    (each) => each.name === name && (each.inProduction?.(project) ?? true),
  );
}

/** Whether users sign in to a project's server. */
export function signsIn(project: Project): boolean {
  return capabilities.some((capability) => capability.signsIn?.(project));
}

/** Whether a capability of the project needs a part of the core. */
export function opens(project: Project, part: CorePart): boolean {
  return capabilitiesOf(project).some((capability) => capability.opens?.(project).includes(part));
}

/** When a project's server has `/api/data`, which reaches every row. */
export function adminDataOf(project: Project): When {
  const asked = capabilitiesOf(project).flatMap(({ adminData }) => adminData?.(project) ?? []);
  return asked.find((when) => when !== 'never') ?? 'never';
}

/** The routes that capabilities add to a project's server. */
export function capabilityRoutes(project: Project): readonly RouteSpec[] {
  return capabilitiesOf(project).flatMap((capability) =>
    capability.routes.filter((route) => capability.isServed?.(route, project) ?? true),
  );
}
