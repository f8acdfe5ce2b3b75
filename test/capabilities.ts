import { auth } from '@twofold/auth';
import { webConsole } from '@twofold/console/server';
import { hosting } from '@twofold/hosting';
import { models } from '@twofold/models';
import type { Capability } from '../runtime/core/capability.ts';
import { capabilitiesOf, type Project, type RouteSpec } from '@twofold/schema';

const CAPABILITIES: Readonly<Record<string, () => Capability>> = {
  auth,
  hosting,
  models,
  console: webConsole,
};

/** What a project asks for, as its `app.ts` would list it. */
export function capabilitiesFor(project: Project): Capability[] {
  return capabilitiesOf(project).map(({ name }) => CAPABILITIES[name]!());
}

/** What the capabilities of a project say of their routes. */
export const flowsFor = (project: Project): readonly RouteSpec[] =>
  capabilitiesFor(project).flatMap(({ flows = [] }) => flows);
