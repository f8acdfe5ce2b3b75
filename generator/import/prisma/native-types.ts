import type { ImportStatus } from '../imported.ts';
import { argument, type PrismaField, textOf } from './prisma-schema.ts';

/** The scalar and the stored type for a column of Prisma. */
export interface ColumnShape {
  readonly scalar: string;
  /** PostgreSQL's type, when the scalar's ordinary one is another. */
  readonly type?: string;
  readonly maxLength?: number;
  readonly readOnly?: true;
  readonly status: ImportStatus;
  readonly why?: string;
}

const kept = (scalar: string, more: Partial<ColumnShape> = {}): ColumnShape => ({
  scalar,
  status: 'kept',
  ...more,
});

const WITHOUT_ZONE = 'the column has no time zone: its values are read as UTC';

/** The types of Prisma's scalars without a `@db` attribute. */
const ORDINARY: Readonly<Record<string, ColumnShape>> = {
  String: kept('String'),
  Boolean: kept('Boolean'),
  Int: kept('Int'),
  BigInt: kept('BigInt'),
  Float: kept('Float'),
  Decimal: kept('Decimal', { type: 'numeric(65,30)' }),
  DateTime: { scalar: 'DateTime', type: 'timestamp(3)', status: 'approximated', why: WITHOUT_ZONE },
  Json: kept('JSON'),
  Bytes: kept('Byte'),
};

type Native = (size: string, field: PrismaField) => ColumnShape;

/**
 * The types for the attributes of PostgreSQL's connector. Columns with other attributes are served
 * as text.
 */
const NATIVE: Readonly<Record<string, Native>> = {
  Text: () => kept('String'),
  Citext: () => kept('String', { type: 'citext' }),
  VarChar: (size) => kept('String', sized('varchar', size)),
  Char: (size) => kept('String', sized('char', size)),
  Uuid: () => kept('UUID'),
  Boolean: () => kept('Boolean'),
  SmallInt: () => kept('Int', { type: 'smallint' }),
  Integer: () => kept('Int'),
  BigInt: () => kept('BigInt'),
  Real: () => kept('Float', { type: 'real' }),
  DoublePrecision: () => kept('Float'),
  Decimal: (size) => kept('Decimal', { type: size === '' ? 'numeric' : `numeric(${size})` }),
  Date: () => kept('Date'),
  Time: () => kept('Time'),
  Timestamptz: () => kept('DateTime'),
  Timestamp: (size) => ({
    scalar: 'DateTime',
    type: size === '' ? 'timestamp' : `timestamp(${size})`,
    status: 'approximated',
    why: WITHOUT_ZONE,
  }),
  Json: () => kept('JSON', { type: 'json' }),
  JsonB: () => kept('JSON'),
  ByteA: () => kept('Byte'),
};

const sized = (type: string, size: string): Partial<ColumnShape> =>
  /^\d+$/.test(size) ? { type: `${type}(${size})`, maxLength: Number(size) } : {};

/**
 * The scalar and the type of a column, from the field's type and its `@db` attribute. Null for a
 * type that is no scalar.
 *
 * @example columnShape(field, 'postgresql') // { scalar: 'DateTime', status: 'kept' }
 */
export function columnShape(field: PrismaField, provider: string): ColumnShape | null {
  const ordinary = ORDINARY[field.type];
  if (!ordinary) return null;
  if (provider === 'sqlite') return inSqlite(ordinary);
  const native = field.attributes.find(({ name }) => name.startsWith('db.'));
  if (!native) return ordinary;
  const name = native.name.slice('db.'.length);
  const size = native.args.flatMap(({ value }) => textOf(value) ?? []).join(',');
  return NATIVE[name]?.(size, field) ?? asText(name, argument(native, '', true) ? size : '');
}

/** SQLite has one type for all texts, so only the scalar is left. */
function inSqlite({ scalar }: ColumnShape): ColumnShape {
  if (scalar !== 'DateTime') return kept(scalar);
  const why = 'Prisma may have written times as milliseconds since 1970: they are read as such';
  return { scalar, status: 'approximated', why };
}

const asText = (name: string, size: string): ColumnShape => ({
  scalar: 'String',
  type: size === '' ? name.toLowerCase() : `${name.toLowerCase()}(${size})`,
  readOnly: true,
  status: 'approximated',
  why: 'its values are served as text and cannot be written',
});
