import type { Access } from './access/row-condition.ts';
import type { Link } from './plan.ts';
import type { ListOptions } from '@twofold/schema';

/** The options that lists, connections and counts have in common. */
export interface Listed {
  readonly entity: string;
  readonly link?: Link;
  readonly list: ListOptions;
  readonly call: number;
  readonly access?: Access;
}
