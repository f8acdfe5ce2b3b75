import type { ColumnType } from '@twofold/schema';
import { figureSql, type FigureSql, type Rows } from './figures.ts';
import { sql, type Sql } from '../sql/fragment.ts';
import type { Figure, KeyPart, NumberType } from '../plan.ts';
import type { Scope } from '../sql/scope.ts';

/** The SQL of numbers over rows. */
export interface Figures {
  count(): Sql;
  figure(of: Figure, column: string, as: NumberType['as']): FigureSql;
  /** A field of the key of a group. */
  key?(part: KeyPart): Sql;
}

/**
 * The numbers that are asked for, as columns of an inner query: each is worked out once, however
 * often it is shown, compared and ordered by.
 */
export class FigureColumns {
  readonly #scope: Scope;
  readonly #rows: Rows;
  readonly #columns = new Map<string, FigureSql & { readonly alias: string }>();

  constructor(scope: Scope, rows: Rows) {
    this.#scope = scope;
    this.#rows = rows;
  }

  /** The SQL of the numbers, when the inner query has the name `alias`. */
  at(alias: string): Figures {
    const count: FigureSql = { sql: sql`count(*)`, form: 'integer' };
    return {
      count: () => sql`${alias}.${this.#add('count', () => count).alias}`,
      figure: (of: Figure, column: string, as: ColumnType) => {
        const id = `${of} ${column} ${of === 'avg' && as === 'decimal' ? 'decimal' : ''}`;
        const found = this.#add(id, () => figureSql(this.#scope, this.#rows, { of, column, as }));
        return { sql: sql`${alias}.${found.alias}`, form: found.form };
      },
    };
  }

  #add(id: string, make: () => FigureSql) {
    const known = this.#columns.get(id);
    if (known) return known;
    const made = { ...make(), alias: `a${this.#columns.size}` };
    this.#columns.set(id, made);
    return made;
  }

  /** The columns of the inner query. Call it last: each use of a number adds one. */
  selected(): readonly Sql[] {
    return [...this.#columns.values()].map(({ sql: value, alias }) => sql`${value} as ${alias}`);
  }
}
