import { createRequire } from 'node:module';
import { isIP, isIPv4, isIPv6 } from 'node:net';
import { isTimeZone } from '../../config/time-zone.ts';

type Test = (text: string) => boolean;

const matches =
  (pattern: RegExp): Test =>
  (text) =>
    pattern.test(text);

/**
 * The check of a text scalar. Names without a row here are checked by the package graphql-scalars;
 * a name that it does not know either accepts any text.
 */
export function formatOf(name: string): Test {
  return FORMATS[name] ?? ((text) => isOfPackage(name, text));
}

const load = createRequire(import.meta.url);
type Scalar = { parseValue(value: unknown): unknown };
let scalars: Readonly<Record<string, Scalar>> | undefined;

/** The package takes 40 ms to load, so it is loaded with the first value that needs it. */
export function isOfPackage(name: string, value: unknown): boolean {
  scalars ??= load('graphql-scalars') as Readonly<Record<string, Scalar>>;
  const scalar = scalars[`GraphQL${name}`] ?? scalars[`GraphQL${name}Resolver`];
  try {
    const parsed = scalar?.parseValue(value);
    return !scalar || (parsed !== null && parsed !== undefined && !Number.isNaN(parsed));
  } catch {
    return false;
  }
}

const FORMATS: Readonly<Record<string, Test>> = {
  EmailAddress: matches(
    /^[^\s@<>()[\],;:"]+@[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/i,
  ),
  URL: isUrl,
  URI: matches(/^[a-z][a-z0-9+.-]*:\S+$/i),
  IP: (text) => isIP(text) > 0,
  IPv4: isIPv4,
  IPv6: isIPv6,
  MAC: matches(/^[0-9a-f]{2}(?:[:-]?[0-9a-f]{2}){5}$/i),
  PhoneNumber: matches(/^\+[1-9]\d{6,14}$/),
  PostalCode: matches(/^[a-z0-9][a-z0-9 -]{1,10}$/i),
  NonEmptyString: (text) => text.trim().length > 0,
  HexColorCode: matches(/^#?(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/i),
  Hexadecimal: matches(/^[0-9a-f]+$/i),
  RGB: matches(/^rgb\(\s*\d{1,3}%?\s*,\s*\d{1,3}%?\s*,\s*\d{1,3}%?\s*\)$/i),
  RGBA: matches(/^rgba\(\s*\d{1,3}%?\s*,\s*\d{1,3}%?\s*,\s*\d{1,3}%?\s*,\s*[\d.]+%?\s*\)$/i),
  HSL: matches(/^hsl\(\s*\d{1,3}\s*,\s*\d{1,3}%\s*,\s*\d{1,3}%\s*\)$/i),
  HSLA: matches(/^hsla\(\s*\d{1,3}\s*,\s*\d{1,3}%\s*,\s*\d{1,3}%\s*,\s*[\d.]+\s*\)$/i),
  JWT: matches(/^[\w-]+\.[\w-]+\.[\w-]*$/),
  CountryCode: matches(/^[A-Z]{2}$/),
  Currency: matches(/^[A-Z]{3}$/),
  Locale: isLocale,
  TimeZone: isTimeZone,
  UtcOffset: matches(/^[+-](?:0\d|1[0-4]):[0-5]\d$/),
  Duration: matches(
    /^[+-]?P(?!$)(?:\d+Y)?(?:\d+M)?(?:\d+W)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+(?:[.,]\d+)?S)?)?$/,
  ),
  ISO8601Duration: matches(
    /^[+-]?P(?!$)(?:\d+Y)?(?:\d+M)?(?:\d+W)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+(?:[.,]\d+)?S)?)?$/,
  ),
  LocalDateTime: matches(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?$/),
  SemVer: matches(/^\d+\.\d+\.\d+(?:-[0-9a-z.-]+)?(?:\+[0-9a-z.-]+)?$/i),
  ULID: matches(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/i),
  Cuid: matches(/^c[a-z0-9]{8,}$/),
  Cuid2: matches(/^[a-z][a-z0-9]{1,31}$/),
  ObjectID: matches(/^[0-9a-f]{24}$/i),
  DID: matches(/^did:[a-z0-9]+:\S+$/),
  IBAN: isIban,
  ISBN: isIsbn,
  AccountNumber: matches(/^[a-z0-9]{5,17}$/i),
  RoutingNumber: matches(/^\d{9}$/),
};

function isUrl(text: string): boolean {
  return URL.canParse(text);
}

function isLocale(text: string): boolean {
  try {
    return Intl.getCanonicalLocales(text.replace('_', '-')).length === 1;
  } catch {
    return false;
  }
}

/** ISO 13616: the rearranged digits modulo 97 must be 1. */
function isIban(text: string): boolean {
  const compact = text.replaceAll(' ', '').toUpperCase();
  if (!/^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(compact)) return false;
  const digits = (compact.slice(4) + compact.slice(0, 4)).replace(/[A-Z]/g, (letter) =>
    String(letter.charCodeAt(0) - 55),
  );
  return BigInt(digits) % 97n === 1n;
}

function isIsbn(text: string): boolean {
  const compact = text.replace(/[ -]/g, '').toUpperCase();
  const weigh = (weight: (index: number) => number) =>
    [...compact].reduce(
      (sum, digit, index) => sum + (digit === 'X' ? 10 : Number(digit)) * weight(index),
      0,
    );
  if (/^\d{9}[\dX]$/.test(compact)) return weigh((index) => 10 - index) % 11 === 0;
  return /^97[89]\d{10}$/.test(compact) && weigh((index) => (index % 2 === 0 ? 1 : 3)) % 10 === 0;
}
