import type { GraphQLSchema } from 'graphql';
import type { Model, SeedValues } from '@twofold/runtime/data';

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

/** Rows to which others can refer by key. */
export interface KnownRows {
  /** The index of the row in the file that has this type and key. */
  row(type: string, key: string): number | undefined;
  /** Id of a row that an earlier seed made. */
  id(type: string, key: string): string | undefined;
  keys(type: string): readonly string[];
}
