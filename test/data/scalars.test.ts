import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { knownCodec } from '../../runtime/core/data/scalars/known.ts';
import { KNOWN_SCALARS, knownScalar } from '../../schema/scalars.ts';
import { root } from '../source-files.ts';

/** For each scalar: a value that it has, one that it has not. `JSON` alone takes everything. */
const VALUES: Readonly<Record<string, readonly [unknown, ...unknown[]]>> = {
  DateTime: ['2026-01-02T03:04:05Z', '2026-02-30T00:00:00Z', 'now', []],
  DateTimeISO: ['2026-01-02T03:04:05.123Z', '2026-01-02'],
  Timestamp: [1_767_323_045_000, 'x', {}],
  UtcOffsetDateTime: ['2026-01-02T03:04:05+01:00', '2026-01-02T03:04:05'],
  Date: ['2026-02-28', '2026-02-30'],
  LocalDate: ['2026-02-28', '28.02.2026'],
  Time: ['10:00:00+02:00', '25:00:00', '10:00:00+99:00', 10],
  LocalTime: ['10:00', '10:00:00Z', '10:00:00+02:00'],
  LocalEndTime: ['23:59:59', '24:00:01'],
  JSONObject: [{}, [], 'x'],
  GeoJSON: [{ type: 'Point', coordinates: [1, 2] }, { type: 'Pint' }, 'x', 7],
  BigInt: ['9007199254740993', 'x', 1.5, []],
  Long: [7, 'x', true],
  SafeInt: [7, '9007199254740993'],
  Decimal: ['1.50', 'x', []],
  UUID: ['11111111-1111-4111-8111-111111111111', '1'],
  GUID: ['11111111-1111-4111-8111-111111111111', 'x'],
  Byte: ['AAA=', '*'],
  Bytes: ['AAA=', 7],
  Bool: [true, 1, 'true'],
  PositiveInt: [1, 0, [], [1], true, ''],
  NegativeInt: [-1, 0, []],
  NonNegativeInt: [0, -1, [], [[]], false, ' '],
  NonPositiveInt: [0, 1, []],
  UnsignedInt: [0, -1, []],
  Port: [80, 65_536, []],
  Year: [2026, 10_000],
  PositiveFloat: [0.1, 0, []],
  NegativeFloat: [-0.1, 0],
  NonNegativeFloat: [0, -0.1, []],
  NonPositiveFloat: [0, 0.1],
  UnsignedFloat: [0, -1],
  Latitude: [90, 90.1, []],
  Longitude: [180, 181],
  Double: [1.5, 'x', []],
  AccountNumber: ['12345', '1'],
  CountryCode: ['DE', 'Germany'],
  CountryName: ['Germany', 'Atlantis', 'DE'],
  Cuid: ['cjld2cjxh0000qzrmn831i7rn', 'x'],
  Cuid2: ['tz4a98xxat96iws9zmbrgj3a', 'T'],
  Currency: ['EUR', 'euro'],
  DID: ['did:example:123', 'example'],
  DeweyDecimal: ['435.4357', 'x'],
  Duration: ['P1DT2H', 'P'],
  EmailAddress: ['a@x.test', 'a'],
  HSL: ['hsl(1, 2%, 3%)', 'red'],
  HSLA: ['hsla(1, 2%, 3%, 0.5)', 'red'],
  HexColorCode: ['#fff', 'red'],
  Hexadecimal: ['ff', 'xyz'],
  IBAN: ['DE89370400440532013000', 'DE00370400440532013000'],
  IP: ['::1', '300.1.1.1'],
  IPCPatent: ['G06F 12/803', 'x'],
  IPv4: ['127.0.0.1', '::1'],
  IPv6: ['::1', '127.0.0.1'],
  ISBN: ['9783161484100', '9783161484101'],
  ISO8601Duration: ['P1D', '1 day'],
  JWT: ['e30.e30.x', 'x'],
  LCCSubclass: ['KBM', 'XXX'],
  LocalDateTime: ['2026-01-02T03:04', '2026-01-02T03:04Z'],
  Locale: ['de-DE', 'a b'],
  MAC: ['00:1b:63:84:45:e6', 'x'],
  NonEmptyString: ['x', ' '],
  ObjectID: ['507f1f77bcf86cd799439011', 'x'],
  PhoneNumber: ['+4930123456', '030'],
  PostalCode: ['10115', '*'],
  RGB: ['rgb(1, 2, 3)', 'red'],
  RGBA: ['rgba(1, 2, 3, 0.5)', 'red'],
  RoutingNumber: ['111000025', '1'],
  SESSN: ['194907011813', '1'],
  SemVer: ['1.2.3', '1.2'],
  TimeZone: ['Europe/Berlin', 'Berlin'],
  ULID: ['01ARZ3NDEKTSV4RRFFQ69G5FAV', 'x'],
  URL: ['https://x.test/a', 'x'],
  URI: ['urn:isbn:1', 'a b'],
  UtcOffset: ['+03:00', '3'],
  USCurrency: ['$1,000.00', 'abc', ''],
};

const codec = (name: string) => knownCodec(name, knownScalar(name)!.column);

describe('a known scalar', () => {
  it.each(KNOWN_SCALARS.filter((name) => !['JSON', 'Void'].includes(name)))(
    '%s takes what it is and refuses what it is not',
    (name) => {
      const [good, ...bad] = VALUES[name] ?? [];
      expect(bad.length).toBeGreaterThan(0);
      expect(() => codec(name).input(good)).not.toThrow();
      for (const value of bad)
        expect(() => codec(name).input(value), `${name}: ${JSON.stringify(value)}`).toThrow();
    },
  );

  it('Void holds nothing', () => {
    for (const value of ['', 'x', 0, {}]) expect(() => codec('Void').input(value)).toThrow();
  });

  it('Time keeps the instant of a time with an offset', () => {
    const { input } = codec('Time');
    expect(
      ['10:00:00+02:00', '01:30:00.5+02:00', '23:30Z', '23:30:15-01:15', '10:00'].map(input),
    ).toEqual(['08:00:00', '23:30:00.5', '23:30:00', '00:45:15', '10:00:00']);
  });

  it('that is frequent does not load the package of the rare ones', () => {
    const program = `
      const { knownCodec } = await import('./runtime/core/data/scalars/known.ts');
      const { createRequire } = await import('node:module');
      const loaded = () => Object.keys(createRequire(import.meta.url).cache).some((file) => file.includes('graphql-scalars'));
      knownCodec('EmailAddress', 'text').input('a@x.test');
      const before = loaded();
      knownCodec('CountryName', 'text').input('Germany');
      console.log(before, loaded());`;
    const answer = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
      cwd: root,
      encoding: 'utf8',
    });
    expect(answer.trim()).toBe('false true');
  });
});
