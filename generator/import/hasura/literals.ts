import type { CatalogColumn } from '@twofold/database';
import { enumsOf } from '../database/import-database.ts';
import type { Importing } from '../database/types.ts';

/** The field that a constant is compared with. */
interface Expected {
  /** Without `!`. */
  readonly type: string;
  readonly column: CatalogColumn;
  readonly importing: Importing;
}

type Reader = (text: string) => string | undefined;

const quoted: Reader = (text) => JSON.stringify(text);

const matching =
  (pattern: RegExp, print: Reader): Reader =>
  (text) =>
    pattern.test(text) ? print(text) : undefined;

const READERS: Readonly<Record<string, Reader | undefined>> = {
  String: quoted,
  UUID: quoted,
  ID: quoted,
  Int: matching(/^-?\d+$/, (text) => text),
  Float: matching(/^-?\d+(\.\d+)?$/, (text) => text),
  BigInt: matching(/^-?\d+$/, quoted),
  Decimal: matching(/^-?\d+(\.\d+)?$/, quoted),
  Boolean: matching(/^(true|false)$/, (text) => text),
  Date: matching(/^\d{4}-\d\d-\d\d$/, quoted),
  Time: matching(/^\d\d:\d\d/, quoted),
  DateTime: (text) =>
    /^\d{4}-/.test(text) && !Number.isNaN(Date.parse(text)) ? JSON.stringify(text) : undefined,
};

/**
 * A constant of Hasura as SDL; undefined when the field cannot be compared with it.
 *
 * @example literalOf(5, { type: 'Int', column, importing }) // '5'
 */
export function literalOf(value: unknown, { type, importing }: Expected): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
    return undefined;
  const text = String(value);
  const found = enumsOf(importing).find(({ name }) => name === type);
  if (found) return found.values.find(({ name, stored }) => (stored ?? name) === text)?.name;
  const isRelation = [...importing.types.values()].some(({ name }) => name === type);
  return isRelation ? quoted(text) : READERS[type]?.(text);
}
