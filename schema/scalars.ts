import type { ColumnType } from './model.ts';

/** GraphQL's five built-in scalars. `ID` is a key in `id` columns and text in all others. */
const BUILTIN: Readonly<Record<string, ColumnType>> = {
  ID: 'text',
  String: 'text',
  Int: 'integer',
  Float: 'real',
  Boolean: 'boolean',
};

/** The scalars of `graphql-scalars`, by stored type. */
const KNOWN: readonly (readonly [ColumnType, string])[] = [
  ['timestamp', 'DateTime DateTimeISO Timestamp UtcOffsetDateTime'],
  ['date', 'Date LocalDate'],
  ['time', 'Time LocalTime LocalEndTime'],
  ['json', 'JSON JSONObject GeoJSON'],
  ['bigint', 'BigInt Long SafeInt'],
  ['decimal', 'Decimal'],
  ['uuid', 'UUID GUID'],
  ['bytes', 'Byte Bytes'],
  ['boolean', 'Bool'],
  ['integer', 'PositiveInt NegativeInt NonNegativeInt NonPositiveInt UnsignedInt Port Year'],
  [
    'real',
    'PositiveFloat NegativeFloat NonNegativeFloat NonPositiveFloat UnsignedFloat Latitude Longitude Double',
  ],
  [
    'text',
    'AccountNumber CountryCode CountryName Cuid Cuid2 Currency DID DeweyDecimal Duration EmailAddress HSL HSLA HexColorCode Hexadecimal IBAN ' +
      'IP IPCPatent IPv4 IPv6 ISBN ISO8601Duration JWT LCCSubclass LocalDateTime Locale MAC NonEmptyString ObjectID PhoneNumber PostalCode RGB RGBA ' +
      'RoutingNumber SESSN SemVer TimeZone ULID URL URI UtcOffset USCurrency Void',
  ],
];

interface KnownScalar {
  readonly column: ColumnType;
  readonly source: 'builtin' | 'known';
}

const SCALARS: ReadonlyMap<string, KnownScalar> = new Map<string, KnownScalar>([
  ...Object.entries(BUILTIN).map(([name, column]): [string, KnownScalar] => [
    name,
    { column, source: 'builtin' },
  ]),
  ...KNOWN.flatMap(([column, names]) =>
    names.split(' ').map((name): [string, KnownScalar] => [name, { column, source: 'known' }]),
  ),
]);

/** All known scalars except the built-in ones. */
export const KNOWN_SCALARS: readonly string[] = KNOWN.flatMap(([, names]) => names.split(' '));

/**
 * How a known scalar is stored. Undefined for a user's own scalar.
 *
 * @example
 * knownScalar('DateTime') // { column: 'timestamp', source: 'known' }
 */
export function knownScalar(name: string): KnownScalar | undefined {
  return SCALARS.get(name);
}
