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

/** A moment as rows have it, in UTC; undefined when the text is none. */
export function moment(type: ColumnType, text: string): string | undefined {
  if (type === 'timestamp')
    return Number.isNaN(Date.parse(text)) ? undefined : new Date(text).toISOString();
  if (type === 'date') return /^\d{4}-\d\d-\d\d$/.test(text) ? text : undefined;
  return type === 'time' ? timeOfDay(text) : undefined;
}

const TIME = /^(\d\d:\d\d)(:\d\d)?(?:(\.\d*[1-9])0*|\.0+)?(Z|[+-]\d\d:\d\d)?$/i;

/** @example timeOfDay('12:00+02:00') // '10:00:00' */
function timeOfDay(text: string): string | undefined {
  const [, clock, seconds = ':00', fraction = '', offset = 'Z'] = TIME.exec(text) ?? [];
  const time = new Date(`1970-01-02T${clock}${seconds}${offset}`);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString().slice(11, 19) + fraction;
}
