import type { coreSchema } from './core.ts';
import type { ValuesOf } from './values-of.ts';

/** The sections of the manifest that every project has, with every default. */
export type CoreValues = {
  readonly [Name in keyof typeof coreSchema]: ValuesOf<(typeof coreSchema)[Name]>;
};
