import type { Case } from './case.ts';
import { ACCESS } from './access.ts';
import { DIRECTIVES } from './directives.ts';
import { MANIFEST } from './manifest.ts';
import { OPERATIONS } from './operations.ts';
import { RELATIONS } from './relations.ts';
import { SCHEMA } from './schema.ts';
import { TABLES } from './tables.ts';

/** Every mistake that has a finding. */
export const CASES: readonly Case[] = [
  ...SCHEMA,
  ...DIRECTIVES,
  ...TABLES,
  ...RELATIONS,
  ...OPERATIONS,
  ...ACCESS,
  ...MANIFEST,
];
