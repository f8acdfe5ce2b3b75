import { capabilityStarters } from '../capabilities.ts';
import type { Starter } from '../capability.ts';
import { blog } from './blog.ts';
import { starter } from './starter.ts';

export type { Starter } from '../capability.ts';

/** What `init` can start a project with, by name. */
export const starters = { starter, blog, ...capabilityStarters } as const satisfies Record<
  string,
  Starter
>;

export type StarterName = keyof typeof starters;
