import { camelCase, pascalCase, pluralize, singularize } from '@twofold/schema';

/**
 * `Order Lines (old)`, `orderLines` and `ORDER_LINES` as words: `order_lines_old`, `orderLines` …
 */
function plain(name: string): string {
  const letters = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '');
  const shouted = letters === letters.toUpperCase();
  return shouted ? letters.toLowerCase() : letters;
}

/** `film_actors` → `FilmActor`. */
export function typeName(table: string): string {
  return pascalCase(words(singularize(plain(table))));
}

/** `UnitPrice`, `unit_price` → `unitPrice`. */
export function fieldName(column: string): string {
  return valid(camelCase(words(plain(column))));
}

/** `TrackId` → `track_id`, `SKU` → `sku`, `HTMLBody` → `html_body`. */
function words(text: string): string {
  return text
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1_$2')
    .toLowerCase();
}

/** The field of a foreign key: its column without `_id`, `Id` or `ID`. */
export const relationName = (column: string): string =>
  fieldName(column.replace(/(?<=.)(_id|_ID|Id|ID| id| ID)$/, ''));

export const pluralName = (type: string): string => pluralize(lowerFirst(type));

export const lowerFirst = (name: string): string => name.charAt(0).toLowerCase() + name.slice(1);

export const upperFirst = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

/** A value of an enum: `PG-13` → `PG_13`. */
export function enumValue(value: string): string {
  const name = value.replace(/[^A-Za-z0-9_]/g, '_');
  return /^(true|false|null)?$/.test(name) ? `_${name}` : valid(name);
}

/** GraphQL has no names that begin with a digit, and keeps those that begin with `__`. */
function valid(name: string): string {
  const found = name.replace(/^__+/, '_');
  return /^[A-Za-z_]/.test(found) ? found : `_${found}`;
}

/**
 * Returns each name only once. A name that is taken gets the prefix, or `_` in front.
 *
 * @param folded makes names equal: fields are one where their names in snake_case are.
 */
export function createNames(taken: Iterable<string> = [], folded = (name: string) => name) {
  const used = new Set(taken);
  return (name: string, prefix = ''): string => {
    const unfit = used.has(folded(name)) || !/^[A-Za-z_]/.test(name);
    let free = unfit && prefix !== '' ? `${prefix}${upperFirst(name)}` : valid(name);
    while (used.has(folded(free))) free = `_${free}`;
    used.add(folded(free));
    return free;
  };
}

/** Names that a type of the user cannot have. */
export const TAKEN = [
  ...['Query', 'Mutation', 'Subscription', 'Node', 'PageInfo', 'CaseMode'],
  ...['ID', 'String', 'Int', 'Float', 'Boolean', 'BigInt', 'Decimal', 'DateTime', 'Date', 'Time'],
  ...['UUID', 'JSON', 'Byte'],
];
