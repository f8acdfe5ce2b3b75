import type { Model } from '../data/model.ts';
import type { GraphQLSchema } from 'graphql';
import type { KnownRows } from './known-rows.ts';
import type { SeedValues } from './seed-values.ts';

/** What is needed to check rows. */
export interface Checking {
  readonly model: Model;
  readonly schema: GraphQLSchema;
  readonly known: KnownRows;
  /** Whether a hook completes the new rows of an entity: it may set what the file leaves out. */
  completes(entity: string): boolean;
  /** The values of an entity's rows that a capability takes. */
  takes(entity: string): SeedValues | undefined;
}
