import type { Row, World } from './random-world.ts';

type Input = Readonly<Record<string, any>>;

/** The members that lead on from a row, and what is compared in it. */
const WAYS: Readonly<
  Record<string, Readonly<Record<string, { to: string; own?: string; theirs?: string }>>>
> = {
  posts: {
    author: { to: 'people', own: 'author_id' },
    comments: { to: 'comments', theirs: 'post_id' },
  },
  people: { posts: { to: 'posts', theirs: 'author_id' } },
  comments: { post: { to: 'posts', own: 'post_id' } },
};
const GROUPS = ['and', 'or', 'not'];

type Test = (input: Input) => boolean;

/** `and`, `or` and `not` of an input; null is no condition. */
function grouped(word: string, value: any, test: Test): boolean {
  if (value === null) return true;
  const items: Input[] = [value].flat().filter((item) => item !== null);
  if (word === 'and') return items.every(test);
  return items.some(test) === (word === 'or');
}

/** Whether rows meet filters, worked out row by row by nothing of the server. */
export function meets(world: World, table: string, row: Row, where: Input): boolean {
  return Object.entries(where).every(([name, value]) => {
    if (GROUPS.includes(name))
      return grouped(name, value, (item) => meets(world, table, row, item));
    if (name === 'isNull') return value !== true;
    const way = WAYS[table]?.[name];
    if (!way) return compared(name, row[name] ?? null, value);
    const related = (world[way.to as 'posts'] as readonly Row[]).filter((other) =>
      way.own ? other['id'] === row[way.own] : other[way.theirs!] === row['id'],
    );
    return way.own
      ? ofOne(world, way.to, related[0], value)
      : ofMany(world, way.to, related, value);
  });
}

function ofOne(world: World, table: string, row: Row | undefined, value: Input | null): boolean {
  if (value === null) return row === undefined;
  const { isNull, and, or, not, ...rest } = value;
  const groups = Object.entries({ and, or, not }).filter(([, given]) => given !== undefined);
  const asks = asksWhether(value);
  const inGroups = groups.every(([word, given]) =>
    grouped(word, given, (item) => ofOne(world, table, row, item)),
  );
  const there = row !== undefined;
  if (!asks) return there && meets(world, table, row, value);
  const plain = Object.keys(rest).length === 0 || (there && meets(world, table, row, rest));
  return plain && inGroups && (isNull === undefined || isNull === !there);
}

/** Whether the input itself, or a group of it, says `isNull`. */
function asksWhether(value: any): boolean {
  if (Array.isArray(value)) return value.some(asksWhether);
  if (typeof value !== 'object' || value === null) return false;
  return 'isNull' in value || [value.and, value.or, value.not].some(asksWhether);
}

function ofMany(world: World, table: string, rows: readonly Row[], value: Input | null): boolean {
  if (value === null) return true;
  return Object.entries(value).every(([word, inner]) => {
    if (inner === null) return true;
    if (GROUPS.includes(word))
      return grouped(word, inner, (item) => ofMany(world, table, rows, item));
    const test = (row: Row) => meets(world, table, row, inner);
    if (word === 'some') return rows.some(test);
    if (word === 'every') return rows.every(test);
    if (word === 'none') return !rows.some(test);
    return words('number', rows.length, inner, {});
  });
}

const KINDS: Readonly<Record<string, string>> = {
  id: 'key',
  meta: 'json',
  tags: 'list',
  numbers: 'list',
  flags: 'list',
  states: 'list',
  big: 'number',
  price: 'number',
};

/** A field of a row or of an object, and the input of it. */
function compared(name: string, own: any, value: Input | null): boolean {
  if (name === 'place' || name === 'inner') return ofPlace(own, value);
  const kind = KINDS[name] ?? 'plain';
  return value === null ? own === null : words(kind, own, value, {});
}

function ofPlace(own: Input | null, value: Input | null): boolean {
  if (value === null) return own === null;
  return Object.entries(value).every(([name, inner]) => {
    if (GROUPS.includes(name)) return grouped(name, inner, (item) => ofPlace(own, item));
    if (name === 'isNull') return (own === null) === inner;
    return compared(name, own?.[name] ?? null, inner);
  });
}

interface Beside {
  readonly mode?: string;
  readonly path?: readonly string[];
}

function words(kind: string, own: any, input: Input, outer: Beside): boolean {
  const mode = input['mode'] ?? outer.mode;
  const path = input['path'] ?? outer.path;
  const beside: Beside = { ...(mode && { mode }), ...(path && { path }) };
  const found = path ? at(own, path) : own;
  return Object.entries(input).every(([word, given]) => {
    if (word === 'mode' || word === 'path') return true;
    if (GROUPS.includes(word))
      return grouped(word, given, (item) => words(kind, own, item, beside));
    return oneWord(kind, found ?? null, word, given, mode === 'INSENSITIVE');
  });
}

function at(value: any, path: readonly string[]): unknown {
  return path.reduce((found, step) => {
    if (Array.isArray(found)) return /^\d+$/.test(step) ? found[Number(step)] : undefined;
    return typeof found === 'object' && found !== null && Object.hasOwn(found, step)
      ? found[step]
      : undefined;
  }, value);
}

const fold = (value: any): any =>
  typeof value === 'string'
    ? value.toLowerCase().replaceAll('ς', 'σ')
    : Array.isArray(value)
      ? value.map(fold)
      : value;

function oneWord(kind: string, own: any, word: string, given: any, insensitive: boolean): boolean {
  const form = (value: any) => {
    const plain = insensitive ? fold(value) : value;
    return kind === 'number' && typeof plain === 'string' ? Number(plain) : plain;
  };
  const same = (a: any, b: any) => isSame(kind, form(a), form(b));
  if (word === 'isNull') return (own === null) === given;
  if (word === 'eq') return same(own, given);
  if (word === 'ne') return !same(own, given);
  if (word === 'in' || word === 'notIn')
    return given.some((each: any) => same(own, each)) === (word === 'in');
  if (own === null) return false;
  if (word === 'isEmpty') return Array.isArray(own) && (own.length === 0) === given;
  const items = Array.isArray(own) ? own : undefined;
  if (word === 'has') return items?.some((each) => same(each, given)) ?? false;
  if (word === 'hasSome')
    return items?.some((each) => given.some((wanted: any) => same(each, wanted))) ?? false;
  if (word === 'hasEvery')
    return (
      items !== undefined &&
      given.every((wanted: any) => items.some((each: any) => same(each, wanted)))
    );
  return inOrder(form(kind === 'key' ? String(own) : own), word, form(given));
}

function isSame(kind: string, a: any, b: any): boolean {
  if (a === null || b === null) return a === b;
  if (kind === 'key') return String(a) === String(b);
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((x, i) => isSame(kind, x, b[i]));
  if (typeof a !== 'object' || typeof b !== 'object' || Array.isArray(b)) return a === b;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isSame(kind, a[key], b[key]))
  );
}

function inOrder(own: any, word: string, given: any): boolean {
  if (typeof own !== typeof given) return false;
  if (typeof own !== 'number' && typeof own !== 'string') return false;
  const order =
    typeof own === 'number' ? own - given : Buffer.compare(Buffer.from(own), Buffer.from(given));
  switch (word) {
    case 'lt':
      return order < 0;
    case 'lte':
      return order <= 0;
    case 'gt':
      return order > 0;
    case 'gte':
      return order >= 0;
    default:
      return typeof own === 'string' && textWord(own, word, given);
  }
}

function textWord(own: string, word: string, given: string): boolean {
  if (word === 'contains') return own.includes(given);
  return word === 'startsWith' ? own.startsWith(given) : own.endsWith(given);
}
