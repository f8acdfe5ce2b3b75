import type { Stored } from './values.ts';

/**
 * A piece of SQL: our own text, and parameters for values. Values never become text. A parameter
 * says where its value is found, so that one statement serves every call of the same shape.
 */
export type Sql = readonly (string | Parameter)[];

export type Parameter =
  /** A value in the arguments of the plan's node with the number `call`. */
  | {
      readonly from: 'call';
      readonly call: number;
      readonly path: readonly (string | number)[];
      readonly as: Stored;
    }
  /** The caller's user id. */
  | { readonly from: 'caller'; readonly as: Stored }
  /** The caller's organizations where they have one of `roles`; all of them if there are none. */
  | { readonly from: 'organizations'; readonly roles: readonly string[]; readonly as: Stored }
  /** A value of the caller's token. */
  | { readonly from: 'claim'; readonly claim: string; readonly as: Stored }
  /** The list of keys of a batch. */
  | { readonly from: 'keys'; readonly as: Stored }
  /** A column of the row that is inserted. */
  | { readonly from: 'row'; readonly column: string; readonly as: Stored }
  /** The largest size of the answer in bytes. */
  | { readonly from: 'bytes'; readonly as: Stored }
  | { readonly from: 'value'; readonly value: unknown; readonly as: Stored };

/** The text and its parameters, in the order in which they stand in the text. */
export interface Statement {
  readonly text: string;
  /** Whether it may read more rows than a page has. */
  readonly long: boolean;
  /** Whether the database may refuse a sum in it, because it is too large. */
  readonly overflows?: boolean;
  readonly parameters: readonly Parameter[];
}

export type Part = string | Parameter | Sql;

/**
 * Joins SQL text and pieces. A string inside `${}` becomes SQL text: names must go through `name()`
 * first.
 *
 * @example sql`select ${name('id')} from ${name('posts')}`
 */
export function sql(strings: TemplateStringsArray, ...parts: readonly Part[]): Sql {
  const pieces: (string | Parameter)[] = [];
  strings.forEach((text, index) => {
    append(pieces, text);
    const part = parts[index];
    if (part !== undefined) append(pieces, part);
  });
  return pieces;
}

/** @example joinSql([a, b], ' and ') */
export function joinSql(list: readonly Part[], separator: string): Sql {
  const pieces: (string | Parameter)[] = [];
  list.forEach((part, index) => {
    if (index > 0) append(pieces, separator);
    append(pieces, part);
  });
  return pieces;
}

function append(pieces: (string | Parameter)[], part: Part): void {
  if (typeof part !== 'string' && 'from' in part) return void pieces.push(part);
  if (typeof part !== 'string') return part.forEach((piece) => append(pieces, piece));
  const last = pieces.length - 1;
  if (typeof pieces[last] === 'string') pieces[last] += part;
  else pieces.push(part);
}

/**
 * A quoted identifier, and a text literal: the latter only for names that are ours, such as keys of
 * the answer and type names.
 */
export { quotedName as name, quotedText as literal } from '../../store/tables/quoting.ts';

/** The finished text: `?` on SQLite, `$1` on PostgreSQL. */
export function toStatement(
  fragment: Sql,
  {
    dialect,
    long = false,
    overflows = false,
  }: {
    readonly dialect: 'sqlite' | 'postgres';
    readonly long?: boolean;
    readonly overflows?: boolean;
  },
): Statement {
  const parameters: Parameter[] = [];
  const text = fragment
    .map((piece) =>
      typeof piece === 'string' ? piece : placeholder(parameters.push(piece), piece.as, dialect),
    )
    .join('');
  return { text, parameters, long, ...(overflows && { overflows }) };
}

/**
 * PostgreSQL takes a parameter for the column's own type, and a key beyond the range of a narrow
 * one would be an error, where it means a row that is not there.
 */
function placeholder(number: number, as: Stored, dialect: 'sqlite' | 'postgres'): string {
  if (dialect === 'sqlite') return '?';
  return as.key === 'integer' && !as.parts
    ? `$${number}::bigint${as.many ? '[]' : ''}`
    : `$${number}`;
}

/**
 * The value of a column. A composite key becomes its parts in parentheses.
 *
 * @example valueSql(as, (part) => ({ from: 'value', value, as: part })) // `?`, or `(?, ?)`
 */
export function valueSql(as: Stored, parameter: (as: Stored) => Parameter): Sql {
  if (!as.parts) return [parameter(as)];
  return sql`(${joinSql(as.parts.map(parameter), ', ')})`;
}
