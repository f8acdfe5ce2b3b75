import { capabilitiesOf, type Project } from '@twofold/schema';
import { authTemplate } from './auth/index.ts';
import { company } from './auth/starter.ts';
import type { CapabilityTemplate, GeneratedFile, Starter } from './capability.ts';
import { consoleTemplate } from './console/index.ts';
import { hostingTemplate } from './hosting/index.ts';
import { hosting } from './hosting/starter.ts';
import { modelsTemplate } from './models/index.ts';
import { settingsFile } from './settings.ts';

/** What each capability emits. A new capability is a line here. */
export const templates: readonly CapabilityTemplate[] = [
  authTemplate,
  hostingTemplate,
  modelsTemplate,
  consoleTemplate,
];

/** Starter projects of capabilities, by their name in `init --template`. */
export const capabilityStarters = { company, hosting } as const satisfies Record<string, Starter>;

/** The templates of the capabilities that a project uses, in the same order. */
export function templatesOf(project: Project): readonly CapabilityTemplate[] {
  const wanted = new Set(capabilitiesOf(project).map(({ name }) => name));
  return templates.filter(({ name }) => wanted.has(name));
}

/** The files that these capabilities add below `src/generated/`. */
export function capabilityFiles(project: Project): GeneratedFile[] {
  return templatesOf(project).flatMap((template) => {
    const own = template.files?.(project) ?? [];
    const settings = settingsFile(template, project);
    return settings ? [...own, settings] : own;
  });
}
