import type { Catalog, CatalogColumn, StorageClasses } from '@twofold/database';

/** The type of a field, and what its directives have to add. */
export interface FieldType {
  /** Without `!`: `String`, `[String!]`. `?` stands for the name of a native enum. */
  readonly type: string;
  /** `type:` of `@column`. */
  readonly column?: string;
  /** Nothing can be written to it. */
  readonly readOnly?: true;
  /** `maxLength` of `@constraint`. */
  readonly maxLength?: number;
  /** The native enum that it is. */
  readonly enum?: string;
  /** Why the type is only close. */
  readonly approximated?: string;
}

const SCALARS: Readonly<Record<string, string>> = {
  int2: 'Int',
  int4: 'Int',
  int8: 'BigInt',
  numeric: 'Decimal',
  float4: 'Float',
  float8: 'Float',
  bool: 'Boolean',
  text: 'String',
  varchar: 'String',
  bpchar: 'String',
  uuid: 'UUID',
  date: 'Date',
  time: 'Time',
  json: 'JSON',
  jsonb: 'JSON',
  bytea: 'Byte',
  timestamptz: 'DateTime',
  timestamp: 'DateTime',
};

/** Types that the schema writes as the scalar's own: `@column(type:)` would only repeat them. */
const USUAL =
  /^(smallint|integer|bigint|numeric|real|double precision|boolean|text|uuid|date|jsonb|bytea)$|^character varying|^timestamp(\(\d\))? with time zone$|^time(\(\d\))? without time zone$/;

/** The type of a column of PostgreSQL. */
export function postgresType(column: CatalogColumn, catalog: Catalog): FieldType {
  const { type, typeKind, typeName } = column;
  if (typeKind === 'enum') return { type: '?', enum: keyOf(typeName), column: type };
  if (typeKind === 'domain') return domainType(column, catalog);
  if (typeKind === 'array') return arrayType(column, catalog);
  const scalar = scalarOf(typeName);
  if (scalar === undefined) return asText(type);
  const length = /^character varying\((\d+)\)$/.exec(type)?.[1];
  return {
    type: scalar,
    ...(!USUAL.test(type) && { column: type }),
    ...(length !== undefined && { maxLength: Number(length) }),
    ...(typeName.name === 'timestamp' && { approximated: 'a time without a zone is read as UTC' }),
  };
}

/** The extension citext may be in any schema. */
const scalarOf = ({ schema, name }: CatalogColumn['typeName']): string | undefined =>
  schema === 'pg_catalog' ? SCALARS[name] : name === 'citext' ? 'String' : undefined;

const asText = (type: string): FieldType => ({
  type: 'String',
  column: type,
  readOnly: true,
  approximated: `values of ${type} are answered as text and cannot be written`,
});

function domainType(column: CatalogColumn, catalog: Catalog): FieldType {
  const domain = catalog.domains.find(
    ({ schema, name }) => keyOf({ schema, name }) === keyOf(column.typeName),
  );
  const scalar = domain && scalarOf(domain.typeName);
  return scalar === undefined ? asText(column.type) : { type: scalar, column: column.type };
}

function arrayType({ type, typeName }: CatalogColumn, { enums }: Catalog): FieldType {
  const key = keyOf(typeName);
  if (enums.some((each) => keyOf(each) === key)) return { type: '[?!]', enum: key, column: type };
  const scalar = scalarOf(typeName);
  return scalar === undefined
    ? { ...asText(type), type: '[String!]' }
    : { type: `[${scalar}!]`, column: type };
}

export const keyOf = ({
  schema,
  name,
}: {
  readonly schema: string;
  readonly name: string;
}): string => JSON.stringify([schema, name]);

const SQLITE: readonly (readonly [RegExp, string])[] = [
  [/^bool/i, 'Boolean'],
  [/^(big|long)|int8|unsigned/i, 'BigInt'],
  [/int/i, 'Int'],
  [/^json/i, 'JSON'],
  [/^(datetime|timestamp)/i, 'DateTime'],
  [/^date$/i, 'Date'],
  [/^time$/i, 'Time'],
  [/^(uuid|guid|uniqueidentifier)$/i, 'UUID'],
  [/char|clob|text/i, 'String'],
  [/blob|binary|^$/i, 'Byte'],
  [/real|floa|doub/i, 'Float'],
  [/^(numeric|decimal|money)/i, 'Decimal'],
];

/**
 * The type of a column of SQLite: by its declared name, then by the affinity that this gives it.
 */
export function sqliteType({ type, stored }: CatalogColumn): FieldType {
  const scalar = SQLITE.find(([pattern]) => pattern.test(type))?.[1] ?? 'Decimal';
  const length = scalar === 'String' ? /\((\d+)\)/.exec(type)?.[1] : undefined;
  const others = othersThan(scalar, stored);
  const notes = [
    ...(scalar === 'DateTime' ? ['a time without a zone is read as UTC'] : []),
    ...(others > 0 ? [`${others} of its values ${others === 1 ? 'is' : 'are'} not ${scalar}`] : []),
  ];
  return {
    type: scalar,
    ...(length !== undefined && { maxLength: Number(length) }),
    ...(notes.length > 0 && { approximated: notes.join('; ') }),
  };
}

/** The forms in which SQLite keeps values of a scalar. */
const FORMS: Readonly<Record<string, readonly (keyof StorageClasses)[]>> = {
  Boolean: ['integer'],
  BigInt: ['integer'],
  Int: ['integer'],
  Float: ['integer', 'real'],
  Decimal: ['integer', 'real'],
  DateTime: ['integer', 'real', 'text'],
  Date: ['integer', 'real', 'text'],
  JSON: ['integer', 'real', 'text'],
  Byte: ['blob'],
};

/** How many values of a column are of another type than its scalar. */
function othersThan(scalar: string, stored: StorageClasses | undefined): number {
  const fitting = FORMS[scalar] ?? ['text'];
  return Object.entries(stored ?? {})
    .filter(([form]) => !(fitting as readonly string[]).includes(form))
    .reduce((sum, [, count]) => sum + count, 0);
}
