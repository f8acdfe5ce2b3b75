import { snakeCase, type IdKind } from '@twofold/schema';

/**
 * The result of an import, before it is written: a schema, and what the report says.
 *
 * @example
 * const { types } = importPrisma(readPrisma(text));
 */
export interface Imported {
  readonly types: readonly ImportedType[];
  readonly enums: readonly ImportedEnum[];
  /** What the report says, a line for each object of the source. */
  readonly items: readonly ReportItem[];
  /** Absent when the source has no permissions. */
  readonly access?: ImportedAccess;
}

/** The keys of the manifest that the imported rules need: roles, and the type that signs in. */
export interface ImportedAccess {
  readonly roles: readonly string[];
  /** The type whose rows sign in, unless it follows from its name. */
  readonly user?: string;
}

/** A type of the schema, and the table or view behind it. */
export interface ImportedType {
  readonly name: string;
  readonly table: TableOf;
  readonly description?: string;
  /** Directives beside `@table`, as SDL: `@index(fields: ["title"])`. */
  readonly directives: readonly string[];
  readonly fields: readonly ImportedField[];
  /** How the keys are written, where the key is the field `id`, a number or a UUID. */
  readonly ids?: IdKind;
}

/** Where the rows of a type are. */
export interface TableOf {
  readonly name: string;
  /** Absent for the schema that the connection has: `public`, and in SQLite. */
  readonly schema?: string;
  readonly view: boolean;
  /** The fields of the key, when it is not the field `id` alone. */
  readonly key?: readonly string[];
}

export interface ImportedField {
  readonly name: string;
  /** The type as SDL: `[String!]!`. */
  readonly type: string;
  readonly description?: string;
  /** The directives as SDL: `@column(name: "TrackId")`. */
  readonly directives: readonly string[];
  /** Whether at most one row has a value of the field, so that a query can find a row by it. */
  readonly unique: boolean;
  /** Why the field is not served. It is then written as a comment. */
  readonly closed?: string;
}

export interface ImportedEnum {
  readonly name: string;
  readonly description?: string;
  readonly directives: readonly string[];
  readonly values: readonly ImportedValue[];
}

export interface ImportedValue {
  readonly name: string;
  /** The stored text of the value, when it is not its name. */
  readonly stored?: string;
  readonly description?: string;
  readonly directives: readonly string[];
}

/** How an object of the source was imported. */
export type ImportStatus = 'kept' | 'approximated' | 'closed' | 'notExpressible';

/** A line of the report. */
export interface ReportItem {
  /** `public.film.title`, or without the schema where there are none. */
  readonly object: string;
  /** `table`, `column`, `foreign key`, `index` … */
  readonly kind: string;
  readonly status: ImportStatus;
  /** The coordinate in the schema: `Film.title`. */
  readonly as?: string;
  readonly why?: string;
}

/**
 * A directive as SDL; arguments without a value are left out.
 *
 * @example directive('column', { name: 'TrackId' }) // '@column(name: "TrackId")'
 */
export function directive(
  name: string,
  given: Readonly<Record<string, DirectiveValue | undefined>> = {},
): string {
  const written = Object.entries(given).flatMap(([key, value]) =>
    value === undefined ? [] : [`${key}: ${printValue(value)}`],
  );
  return written.length === 0 ? `@${name}` : `@${name}(${written.join(', ')})`;
}

/** A text in `raw` is written without quotes: the value of an enum. */
export type DirectiveValue =
  | string
  | number
  | boolean
  | readonly string[]
  | { readonly raw: string };

function printValue(value: DirectiveValue): string {
  if (typeof value === 'object' && 'raw' in value) return value.raw;
  return Array.isArray(value) ? `[${value.map(quoted).join(', ')}]` : JSON.stringify(value);
}

const quoted = (text: string) => JSON.stringify(text);

const CREDENTIAL = /(^|_)(password|passwd|pwd|secret|token|salt)(_|$)|(^|_)hash$/;

/**
 * Whether a column is named like one that holds a credential. An import does not serve it: a field
 * in a schema can be read by everyone who may read the row.
 *
 * @example isCredentialName('password_hash') // true
 */
export const isCredentialName = (column: string): boolean => CREDENTIAL.test(snakeCase(column));
