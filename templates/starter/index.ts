import { blog } from './blog.ts';
import { company } from './company.ts';
import { hosting } from './hosting.ts';
import { starter } from './starter.ts';

/** What `init` starts a project with: the two inputs, and files that would be the user's. */
export interface Starter {
  readonly about: string;
  readonly schema: string;
  readonly manifest: (name: string) => string;
  /** Path → text. */
  readonly files: Readonly<Record<string, string>>;
  /** A query that answers in a new project. */
  readonly query: string;
  /** Who has to ask it, where not everybody may: a user who registered, or the operator of the host. */
  readonly caller?: 'user' | 'host';
}

export const starters = { starter, blog, company, hosting } as const satisfies Record<
  string,
  Starter
>;

export type StarterName = keyof typeof starters;
