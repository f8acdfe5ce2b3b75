import type { AuthValues } from './auth/manifest.ts';
import type { AuthModel } from './auth/model.ts';
import { authSection } from './auth/section.ts';
import { consoleSection, type ConsoleValues, type ConsoleModel } from './console/manifest.ts';
import type { HostingModel } from './hosting/model.ts';
import { hostingSection } from './hosting/section.ts';
import type { Section } from './manifest/section.ts';
import type { CoreValues } from './manifest/core.ts';
import { modelsSection } from './models/section.ts';

// The parts of the manifest and the model that belong to capabilities. They are not in
// `capabilities.ts`, because the rules and builders there use the types of this file.

/** A new section is a line here. A section inside another one comes after it. */
export const sections: readonly Section[] = [
  authSection,
  hostingSection,
  modelsSection,
  consoleSection,
];

/** The manifest with every default, keys in camelCase, times in milliseconds and sizes in bytes. */
export interface ManifestValues extends CoreValues {
  /** An absent section is disabled. */
  readonly auth?: AuthValues;
  readonly hosting?: HostingModel;
  readonly console?: ConsoleValues;
}

/** The model of each section; null if it is disabled. */
export interface SectionModels {
  readonly auth: AuthModel | null;
  readonly hosting: HostingModel | null;
  readonly console: ConsoleModel | null;
}
