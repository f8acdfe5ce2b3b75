import { snakeCase } from '@twofold/schema';
import { isCredentialName, directive, type ImportedField, type ReportItem } from '../imported.ts';
import { columnShape, type ColumnShape } from './native-types.ts';
import {
  attribute,
  storedName,
  argument,
  textOf,
  type PrismaField,
  type PrismaModel,
  type PrismaValue,
} from './prisma-schema.ts';
import { keyFields, objectOf, shownName, uniqueKeys, type Source } from './source.ts';

/** A field over a column, and its line of the report. */
export interface ImportedColumn {
  readonly field: ImportedField | null;
  readonly item: ReportItem;
}

/** Whether a column is named like a credential. A key is served in any case. */
export const isClosed = (field: PrismaField, model: PrismaModel): boolean =>
  isCredentialName(storedName(field)) && !keyFields(model).includes(field.name);

/**
 * A field whose type is a scalar or an enum.
 *
 * @example importColumn(field, user, source).field?.type // 'String!'
 */
export function importColumn(
  field: PrismaField,
  model: PrismaModel,
  source: Source,
): ImportedColumn {
  const stored = storedName(field);
  const item = { object: objectOf(model, source, stored), kind: 'column' };
  if (field.unsupported) {
    const why = `${field.type} is a type that Prisma does not support either`;
    return { field: null, item: { ...item, status: 'notExpressible', why } };
  }
  const shape = shapeOf(field, source);
  if (!shape) {
    const why = `${field.type} is no scalar, enum or model of this schema`;
    return { field: null, item: { ...item, status: 'notExpressible', why } };
  }
  const made = fieldOver(field, { model, source, shape });
  if (isClosed(field, model)) {
    const needed =
      field.optional || field.list || attribute(field, 'default')
        ? ''
        : ', without which no row can be created';
    const why = `it is named like a credential${needed}: serve it by taking the # away`;
    return { field: { ...made, closed: why }, item: { ...item, status: 'closed', why } };
  }
  const { status, why } = importDefault(field).report ?? shape;
  const as = `${model.name}.${made.name}`;
  return { field: made, item: { ...item, status, as, ...(why !== undefined && { why }) } };
}

function shapeOf(field: PrismaField, source: Source): ColumnShape | null {
  return source.enums.has(field.type)
    ? { scalar: field.type, status: 'kept' }
    : columnShape(field, source.provider);
}

interface Place {
  readonly model: PrismaModel;
  readonly source: Source;
  readonly shape: ColumnShape;
}

function fieldOver(field: PrismaField, place: Place): ImportedField {
  const { model } = place;
  const isId = keyFields(model).join() === 'id' && field.name === 'id';
  const unique = isId || uniqueKeys(model).some((names) => names.join() === field.name);
  return {
    name: shownName(model, field.name),
    type: isId ? 'ID!' : typeOf(field, place.shape),
    ...(field.description !== undefined && { description: field.description }),
    directives: [
      ...columnDirective(field, place, isId),
      ...(unique && !isId ? [directive('unique')] : []),
      ...(attribute(field, 'updatedAt')
        ? [directive('updatedAt')]
        : importDefault(field).directives),
      ...constraint(place.shape),
    ],
    unique,
  };
}

/** A list of Prisma is never null, although its column may be. */
function typeOf({ list, optional }: PrismaField, { scalar }: ColumnShape): string {
  if (list) return `[${scalar}!]`;
  return optional ? scalar : `${scalar}!`;
}

const ID_TYPES: Readonly<Record<string, string | undefined>> = {
  String: 'text',
  BigInt: 'bigint',
  UUID: 'uuid',
};

function columnDirective(
  field: PrismaField,
  { model, source, shape }: Place,
  isId: boolean,
): string[] {
  const stored = storedName(field);
  const type = isId ? (shape.type ?? ID_TYPES[shape.scalar]) : arrayType(field, source, shape);
  const usual = isId ? 'id' : snakeCase(shownName(model, field.name));
  const name = stored === usual ? undefined : stored;
  if (name === undefined && type === undefined && !shape.readOnly) return [];
  return [directive('column', { name, type, readOnly: shape.readOnly })];
}

const ARRAYS: Readonly<Record<string, string>> = {
  String: 'text',
  Boolean: 'boolean',
  Int: 'integer',
  BigInt: 'bigint',
  Float: 'double precision',
  JSON: 'jsonb',
  Byte: 'bytea',
  UUID: 'uuid',
  Date: 'date',
  Time: 'time',
  DateTime: 'timestamptz',
};

function arrayType(field: PrismaField, source: Source, shape: ColumnShape): string | undefined {
  if (!field.list) return shape.type;
  const named = source.enums.get(field.type);
  return `${shape.type ?? (named ? storedName(named) : ARRAYS[shape.scalar])}[]`;
}

const constraint = ({ maxLength }: ColumnShape): string[] =>
  maxLength === undefined ? [] : [directive('constraint', { maxLength })];

/** The directive for a default, and a line for the report. */
interface ImportedDefault {
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
function importDefault(field: PrismaField): ImportedDefault {
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
