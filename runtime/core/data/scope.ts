import type { Dialect } from '../store/store.ts';
import type { Rules } from './access.ts';
import { joinSql, literal, name, sql, type Parameter, type Sql } from './fragment.ts';
import { jsonOf, type Json } from './json.ts';
import type { Model } from './model.ts';
import type { Call, KeyType } from './plan.ts';
import type { Stored } from './values.ts';

/**
 * Names that no field can have: the type of an object, and the row that user code gets as its
 * parent.
 */
export const TYPE_KEY = '$';
export const ROW_KEY = '$row';

/** What every part needs when a statement is written. */
export interface Scope {
  readonly model: Model;
  readonly rules: Rules;
  readonly dialect: Dialect;
  readonly json: Json;
  readonly calls: readonly Call[];
  /**
   * Key of the object that stands for a refused or missing value. It is a random word, so that no
   * data looks like it.
   */
  readonly marker: string;
  /**
   * Whether the executor processes the result: it then needs type names, and the rows that user
   * code gets as parents.
   */
  readonly tree: boolean;
  /** A table alias that nothing else uses. */
  alias(): string;
  /** Counts the relations in its conditions. @returns the count, including this one */
  relation(): number;
  /** Notes that the statement may take long, see `ReadStatement`. */
  watch(): void;
  readonly long: boolean;
}

export function createScope(
  options: Omit<Scope, 'json' | 'alias' | 'relation' | 'watch' | 'long'>,
): Scope {
  let aliases = 0;
  let relations = 0;
  let long = false;
  return {
    ...options,
    json: jsonOf[options.dialect],
    alias: () => `t${++aliases}`,
    relation: () => ++relations,
    watch: () => {
      long = true;
    },
    get long() {
      return long;
    },
  };
}

/** `t1."author_id"` */
export const reference = (alias: string, column: string): string => `${alias}.${name(column)}`;

/** A value in the arguments of node `call`. */
export const parameter = (
  call: number,
  path: readonly (string | number)[],
  as: Stored,
): Parameter => ({
  from: 'call',
  call,
  path,
  as,
});

/** The marker object: the caller may not see the value, or a required value is missing. */
export function marked(scope: Scope, what: 'FORBIDDEN' | 'UNAUTHENTICATED' | 'MISSING'): Sql {
  return scope.json.constant(`{"${scope.marker}":"${what}"}`);
}

/** The condition that a key which may refer to several types refers to ours. */
export const ofType = (of: KeyType | undefined, alias: string): Sql | undefined =>
  of && sql`${reference(alias, of.column)} = ${literal(of.type)}`;

export function and(conditions: readonly (Sql | undefined)[]): Sql | undefined {
  const present = conditions.filter((condition) => condition !== undefined);
  if (present.length <= 1) return present[0];
  return joinSql(
    present.map((condition) => sql`(${condition})`),
    ' and ',
  );
}

export function or(conditions: readonly Sql[]): Sql {
  if (conditions.length === 0) return sql`false`;
  return conditions.length === 1 ? (conditions[0] as Sql) : sql`(${joinSql(conditions, ' or ')})`;
}

/** ` where …`, or nothing. */
export const where = (condition: Sql | undefined): Sql =>
  condition ? sql` where ${condition}` : sql``;
