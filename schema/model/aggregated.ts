import type { ListOptions } from './lists.ts';

/** Numbers over rows of an entity: of all of them together, or of each group of equal values. */
export interface Aggregated {
  readonly kind: 'aggregated';
  readonly entity: string;
  /** The rows that are counted; for groups also the arguments that page them. */
  readonly list: ListOptions;
  /** Set when the rows are grouped. */
  readonly groups?: Grouping;
}

/** The arguments of a list of groups and what they do. */
export interface Grouping {
  readonly by: {
    readonly arg: string;
    /**
     * The field for each value of the enum: `status`, or a field and a unit of time: `createdAt
     * day`.
     */
    readonly values: Readonly<Record<string, string>>;
  };
  readonly having?: string;
  readonly orderBy?: string;
}

export type TimeUnit = 'hour' | 'day' | 'week' | 'month' | 'year';
