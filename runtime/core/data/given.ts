import type { Parameter } from './fragment.ts';
import type { Stored } from './values.ts';

/** What a value is compared with. */
export interface Given {
  /** The name in messages: `where.title.contains`. */
  readonly field: string;
  readonly value: unknown;
  parameter(as: Stored): Parameter;
}

/** What stands beside a word. */
export interface Beside {
  /** `mode: INSENSITIVE`. */
  readonly fold?: boolean;
  /** The way to a value within JSON. */
  readonly way?: Given | undefined;
}
