import type { ClientSettings } from './client.ts';
import type { coreSchema } from './core.ts';
import type { ValuesOf } from './values-of.ts';

/** The sections of the manifest that every project has, with every default. */
export type CoreValues = {
  readonly [Name in Exclude<keyof typeof coreSchema, 'client'>]: ValuesOf<
    (typeof coreSchema)[Name]
  >;
} & {
  /** Absent: off. */
  readonly client?: ClientSettings | readonly ClientSettings[];
};
