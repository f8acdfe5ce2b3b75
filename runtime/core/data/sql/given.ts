import type { Parameter } from './fragment.ts';
import type { Stored } from './values.ts';

/** The value that an operator compares with. */
export interface Given {
  /** The name in messages: `where.title.contains`. */
  readonly field: string;
  readonly value: unknown;
  parameter(as: Stored): Parameter;
}

/** Members of an input that say how the operators beside them compare. */
export interface Beside {
  /** Set by `mode: INSENSITIVE`: letters are compared without their case. */
  readonly fold?: boolean;
  /** The path to a value inside the JSON of a column. */
  readonly way?: Given | undefined;
}
