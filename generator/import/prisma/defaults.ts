import { directive, type ReportItem } from '../imported.ts';
import {
  argument,
  attribute,
  type PrismaField,
  type PrismaValue,
  textOf,
} from './prisma-schema.ts';

/** The directive for a default, and a line for the report. */
export interface ImportedDefault {
  readonly directives: readonly string[];
  readonly report?: Pick<ReportItem, 'status' | 'why'>;
}

const byDatabase: ImportedDefault = {
  directives: [directive('default', { expr: { raw: 'DATABASE' } })],
};

/** Functions that the client of Prisma computes. The database does not know them. */
const OF_THE_CLIENT: ReadonlySet<string> = new Set(['uuid', 'cuid', 'nanoid', 'ulid', 'auto']);

/** Types whose literals stand in `@default(value:)` as they are. */
const LITERAL: ReadonlySet<string> = new Set(['String', 'Int', 'Float', 'Boolean']);

/**
 * What `@default` of Prisma becomes. A default that the database has too is left to the database,
 * unless it is a literal, which the schema then shows.
 *
 * @example importDefault(field).directives // ['@default(expr: DATABASE)']
 */
export function importDefault(field: PrismaField): ImportedDefault {
  const value = argument(attribute(field, 'default'), 'value', true);
  if (!value) return { directives: [] };
  if (value.kind === 'function') return ofFunction(field, value.name);
  // A key has no literal in the schema, because it would be the same in every row.
  if (!isLiteral(field, value) || attribute(field, 'id')) return byDatabase;
  return { directives: [directive('default', { value: literal(value) })] };
}

function ofFunction({ type, attributes }: PrismaField, name: string): ImportedDefault {
  if (!OF_THE_CLIENT.has(name)) return byDatabase;
  const isKey = attributes.some((each) => each.name === 'id');
  if (name === 'uuid' && type === 'String' && !isKey)
    return { directives: [directive('default', { expr: { raw: 'UUID' } })] };
  const why = `Prisma's client made its values with ${name}(): a create has to give one`;
  return { directives: [], report: { status: 'approximated', why } };
}

const isLiteral = ({ type }: PrismaField, value: PrismaValue) =>
  value.kind !== 'list' && (LITERAL.has(type) || value.kind === 'word');

function literal(value: PrismaValue) {
  if (value.kind === 'boolean') return value.value;
  const text = textOf(value) ?? '';
  return value.kind === 'text' ? text : { raw: text };
}
