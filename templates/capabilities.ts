import { capabilitiesOf, type Project } from '@twofold/schema';
import { authTemplate } from './auth/index.ts';
import type { CapabilityTemplate } from './capability.ts';
import { hostingTemplate } from './hosting/index.ts';
import { modelsTemplate } from './models/index.ts';

/** What each capability emits. A new one is a line here. */
const TEMPLATES: readonly CapabilityTemplate[] = [authTemplate, hostingTemplate, modelsTemplate];

/** The templates of the capabilities that a project asks for, in their order. */
export function templatesOf(project: Project): readonly CapabilityTemplate[] {
  const wanted = new Set(capabilitiesOf(project).map(({ name }) => name));
  return TEMPLATES.filter(({ name }) => wanted.has(name));
}
