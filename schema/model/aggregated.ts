import type { ListOptions } from './lists.ts';

/** Numbers over rows of an entity: of all of them together, or of each group of equal values. */
export interface Aggregated {
  readonly kind: 'aggregated';
  readonly entity: string;
  /** Which rows; for groups also the arguments that page them. */
  readonly list: ListOptions;
  /** Set when the rows are grouped. */
  readonly groups?: Grouping;
}

/** The arguments of a list of groups and what they do. */
export interface Grouping {
  readonly by: {
    readonly arg: string;
    /** Value of the enum → the field: `status`, or a field and the unit of time `createdAt day`. */
    readonly values: Readonly<Record<string, string>>;
  };
  readonly having?: string;
  readonly orderBy?: string;
}

export type TimeUnit = 'hour' | 'day' | 'week' | 'month' | 'year';
