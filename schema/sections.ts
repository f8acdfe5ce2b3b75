import type { AuthValues } from './auth/manifest.ts';
import type { AuthModel } from './auth/model.ts';
import { authSection } from './auth/section.ts';
import type { HostingModel } from './hosting/model.ts';
import { hostingSection } from './hosting/section.ts';
import type { Section } from './manifest/section.ts';
import type { CoreValues } from './manifest/values.ts';
import { modelsSection } from './models/section.ts';

// What capabilities add to the manifest and to the model. It stands apart from `capabilities.ts`,
// whose rules and builders
// work on the types of this file.

/** A new section is a line here. One that stands within another comes after it. */
export const sections: readonly Section[] = [authSection, hostingSection, modelsSection];

/** The manifest with every default, keys in camelCase, times in milliseconds and sizes in bytes. */
export interface ManifestValues extends CoreValues {
  /** An absent section is switched off. */
  readonly auth?: AuthValues;
  readonly hosting?: HostingModel;
}

/** What the model holds for each section; null where it is switched off. */
export interface SectionModels {
  readonly auth: AuthModel | null;
  readonly hosting: HostingModel | null;
}
