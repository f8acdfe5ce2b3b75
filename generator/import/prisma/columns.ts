import { snakeCase } from '@twofold/schema';
import { isCredentialName } from '../credential-names.ts';
import { directive, type ImportedField, type ReportItem } from '../imported.ts';
import { importDefault } from './defaults.ts';
import { type ColumnShape, columnShape } from './native-types.ts';
import { attribute, type PrismaField, type PrismaModel, storedName } from './prisma-schema.ts';
import { keyFields, objectOf, shownName, type Source, uniqueKeys } from './source.ts';

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
