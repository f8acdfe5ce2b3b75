import { capabilityStarters } from '../capabilities.ts';
import type { Starter } from '../capability.ts';
import { blog } from './blog.ts';
import { starter } from './starter.ts';

export type { Starter } from '../capability.ts';

/** The starter projects of `init`, by name. */
export const starters = { starter, blog, ...capabilityStarters } as const satisfies Record<
  string,
  Starter
>;

export type StarterName = keyof typeof starters;
