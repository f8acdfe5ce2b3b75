import type { Principal } from '../../runtime/core/context/request-context.ts';
import type { Random } from '../graphql/random-schema.ts';
import {
  compares,
  figure,
  inOrder,
  keyOf,
  mayRead,
  meets,
  OUT_OF_RANGE,
  visible,
} from './oracle.ts';
import { type Item, type Items, NUMBERS, USERS, VALUES } from './random-items.ts';

/** A query, and what an oracle answers it with. */
export interface Ask {
  readonly text: string;
  readonly variables: Record<string, unknown>;
  readonly data: unknown;
  /** `path code` of every error. */
  readonly errors: readonly string[];
  /** Fields at the root, each of which is one statement. */
  readonly roots: number;
}

const FIGURES = ['countDistinct', 'sum', 'avg', 'min', 'max'];
const KEYS = ['OWNER', 'FLAG', ...VALUES.map((name) => name.toUpperCase())];
const TIMES = ['AT_HOUR', 'AT_DAY', 'AT_WEEK', 'AT_MONTH', 'AT_YEAR', 'DAY_WEEK', 'DAY_MONTH'];

/** The figures that are asked for: `sum` → `n`, `big`. */
type Wanted = ReadonlyMap<string, readonly string[]>;

interface Asking {
  readonly random: Random;
  readonly items: Items;
  readonly caller: Principal;
  readonly errors: string[];
}

export function randomAsk(random: Random, items: Items, caller: Principal): Ask {
  const errors: string[] = [];
  const asking: Asking = { random, items, caller, errors };
  const makers = [aggregate, aggregate, groups, groups, groups, connection, parents];
  const asked = Array.from({ length: 1 + random.below(2) }, (_, index) =>
    random.pick(makers)(asking, `r${index}`),
  );
  const declared = asked.flatMap((each) => each.declared);
  return {
    text: `query ${declared.length > 0 ? `(${declared.join(', ')})` : ''} { ${asked.map(({ text }) => text).join(' ')} }`,
    variables: Object.assign({}, ...asked.map(({ variables }) => variables)),
    data: Object.fromEntries(asked.map(({ key, data }) => [key, data])),
    errors: errors.toSorted(),
    roots: asked.length,
  };
}

interface Asked {
  readonly key: string;
  readonly text: string;
  readonly declared: readonly string[];
  readonly variables: Readonly<Record<string, unknown>>;
  readonly data: unknown;
}

function aggregate(asking: Asking, key: string): Asked {
  const where = randomWhere(asking.random);
  const wanted = randomFigures(asking.random, FIGURES);
  const rows = visible(asking.items, asking.caller).filter((item) => meets(item, where));
  return {
    key,
    text: `${key}: itemsAggregate(where: $${key}w) { ${textOf(wanted)} }`,
    declared: [`$${key}w: ItemFilter`],
    variables: { [`${key}w`]: where },
    data: expected(asking, rows, wanted, key),
  };
}

function connection(asking: Asking, key: string): Asked {
  const where = randomWhere(asking.random);
  const wanted = randomFigures(asking.random, FIGURES);
  const rows = visible(asking.items, asking.caller).filter((item) => meets(item, where));
  return {
    key,
    text: `${key}: itemsConnection(where: $${key}w, first: 2) { totalCount nodes { flag } aggregate { ${textOf(wanted)} } }`,
    declared: [`$${key}w: ItemFilter`],
    variables: { [`${key}w`]: where },
    data: {
      totalCount: rows.length,
      nodes: rows.slice(0, 2).map(({ flag }) => ({ flag })),
      aggregate: expected(asking, rows, wanted, `${key}.aggregate`),
    },
  };
}

/** Of each user that the caller sees, of their items. */
function parents(asking: Asking, key: string): Asked {
  const { items, caller, random } = asking;
  const wanted = randomFigures(random, FIGURES);
  const by = random.pick(['LABEL', 'FLAG', 'AT_YEAR']);
  const seen = USERS.filter(
    (id) => items.users === 'all' || (caller.kind === 'user' && Number(caller.id) === id),
  );
  const data = seen.map((id, index) => {
    const rows = visible(items, caller).filter(({ owner }) => owner === id);
    return {
      id: String(id),
      itemsAggregate: expected(asking, rows, wanted, `${key}.${index}.itemsAggregate`),
      itemsGroups: grouped(rows, [by])
        .sort((a, b) => inOrder(a.keys[0], b.keys[0], false))
        .map(({ rows: of }) => ({ count: of.length })),
    };
  });
  return {
    key,
    text: `${key}: users { id itemsAggregate { ${textOf(wanted)} } itemsGroups(by: [${by}]) { count } }`,
    declared: [],
    variables: {},
    data,
  };
}

function groups(asking: Asking, key: string): Asked {
  const { random, items, caller } = asking;
  const by = randomKeys(random);
  const where = randomWhere(random);
  const wanted = randomFigures(random, FIGURES);
  const having = random.chance(0.5) ? randomHaving(random, 2) : {};
  const order = randomOrder(random, by);
  const page = { limit: 1 + random.below(10), offset: random.pick([0, 0, 1, 3]) };
  const rows = visible(items, caller).filter((item) => meets(item, where));
  const found = grouped(rows, by)
    .filter((group) => holds(group.rows, having))
    .sort((a, b) => compareGroups(a, b, by, order))
    .slice(page.offset, page.offset + page.limit);
  const names = by.map((each) => each.split('_')[0]!.toLowerCase());
  const shown = names.map((name) => (name === 'owner' ? 'owner { id }' : name)).join(' ');
  return {
    key,
    text: `${key}: itemsGroups(where: $${key}w, by: [${by.join(', ')}], having: $${key}h, orderBy: $${key}o, limit: ${page.limit}, offset: ${page.offset}) { key { ${shown} } ${textOf(wanted)} }`,
    declared: [`$${key}w: ItemFilter`, `$${key}h: ItemGroupFilter`, `$${key}o: [ItemGroupOrder!]`],
    variables: { [`${key}w`]: where, [`${key}h`]: having, [`${key}o`]: order },
    data: found.map((group, index) => ({
      key: Object.fromEntries(
        names.map((name, place) => {
          const value = group.keys[place];
          return [name, name === 'owner' && value !== null ? { id: String(value) } : value];
        }),
      ),
      ...expected(asking, group.rows, wanted, `${key}.${index}`),
    })),
  };
}

interface Group {
  readonly keys: readonly unknown[];
  readonly rows: Item[];
}

function grouped(rows: readonly Item[], by: readonly string[]): Group[] {
  const found = new Map<string, Group>();
  for (const item of rows) {
    const keys = by.map((each) => keyOf(item, each));
    const id = JSON.stringify(keys);
    const group = found.get(id) ?? { keys, rows: [] };
    group.rows.push(item);
    found.set(id, group);
  }
  return [...found.values()];
}

function randomKeys(random: Random): string[] {
  const keys = Array.from({ length: 1 + random.below(2) }, () =>
    random.pick(random.chance(0.4) ? TIMES : KEYS.filter((key) => key !== 'SECRET')),
  );
  const seen = new Set<string>();
  return keys.filter((key) => {
    const name = key.split('_')[0]!;
    return !seen.has(name) && seen.add(name);
  });
}

function randomFigures(random: Random, of: readonly string[]): Wanted {
  const wanted = new Map<string, readonly string[]>();
  for (const each of of) {
    const names = each === 'sum' || each === 'avg' ? NUMBERS : VALUES;
    const some = names.filter(() => random.chance(0.3));
    if (some.length > 0) wanted.set(each, some);
  }
  return wanted;
}

const textOf = (wanted: Wanted) =>
  `count ${[...wanted].map(([of, names]) => `${of} { ${names.join(' ')} }`).join(' ')}`;

function expected(
  { items, caller, errors }: Asking,
  rows: readonly Item[],
  wanted: Wanted,
  path: string,
) {
  const value = (of: string, name: string): unknown => {
    const at = `${path}.${of}.${name}`;
    if (name === 'secret' && !mayRead(items.secret, caller)) {
      errors.push(`${at} ${caller.kind === 'anonymous' ? 'UNAUTHENTICATED' : 'FORBIDDEN'}`);
      return null;
    }
    const found = figure(rows, of, name, items.types.get(`${of} ${name}`) ?? 'Int');
    if (found !== OUT_OF_RANGE) return found;
    errors.push(`${at} OUT_OF_RANGE`);
    return null;
  };
  return {
    count: rows.length,
    ...Object.fromEntries(
      [...wanted].map(([of, names]) => [
        of,
        Object.fromEntries(names.map((name) => [name, value(of, name)])),
      ]),
    ),
  };
}

function randomWhere(random: Random): Record<string, unknown> {
  const one = () =>
    random.pick<Record<string, unknown>>([
      { flag: random.chance(0.5) },
      { n: { gte: random.below(5) } },
      { n: { isNull: random.chance(0.5) } },
      { label: { ne: 'bee' } },
      { label: { in: ['ant', 'cat'] } },
    ]);
  if (random.chance(0.5)) return {};
  return random.chance(0.3) ? { or: [one(), one()] } : one();
}

function randomHaving(random: Random, depth: number): Record<string, any> {
  if (depth > 0 && random.chance(0.4)) {
    const word = random.pick(['and', 'or', 'not']);
    const inner = () => randomHaving(random, depth - 1);
    return { [word]: word === 'not' ? inner() : [inner(), inner()] };
  }
  return random.pick<() => Record<string, any>>([
    () => ({ count: { gte: random.below(4) } }),
    () => ({ count: { in: [1, 3] } }),
    () => ({ sum: { n: { ne: String(random.below(9)) } } }),
    () => ({ sum: { big: { lt: '9223372036854775807' } } }),
    () => ({ sum: { big: { in: ['0', '9007199254740993', null] } } }),
    () => ({ sum: { price: { gte: '0.5' } } }),
    () => ({ sum: { price: { notIn: ['1.5', '12'] } } }),
    () => ({ sum: { score: { lt: 2.5 } } }),
    () => ({ avg: { n: { gte: 0.5 } } }),
    () => ({ min: { at: { lt: '1999-01-01T00:00:00.000Z' } } }),
    () => ({ min: { price: { lt: '1' } } }),
    () => ({ min: { label: { eq: 'ant' } } }),
  ])();
}

const TYPES: Readonly<Record<string, string>> = {
  n: 'BigInt',
  big: 'BigInt',
  price: 'Decimal',
  score: 'Float',
};

function holds(rows: readonly Item[], having: Readonly<Record<string, any>>): boolean {
  return Object.entries(having).every(([name, value]) => {
    if (name === 'and') return value.every((one: object) => holds(rows, one));
    if (name === 'or') return value.some((one: object) => holds(rows, one));
    if (name === 'not') return !holds(rows, value);
    if (name === 'count') return compares(rows.length, value, 'Int');
    return Object.entries<any>(value).every(([field, words]) => {
      const type = name === 'avg' ? 'Float' : (TYPES[field] ?? 'String');
      return compares(figure(rows, name, field, type), words, type);
    });
  });
}

type Order = readonly Readonly<Record<string, any>>[];

function randomOrder(random: Random, by: readonly string[]): Order {
  const direction = () => random.pick(['ASC', 'DESC']);
  const keys = by
    .map((each) => each.split('_')[0]!.toLowerCase())
    .filter((name) => ['n', 'price', 'label', 'mood', 'at', 'flag', 'owner'].includes(name));
  const one = () =>
    random.pick<() => Record<string, unknown>>([
      () => ({ count: direction() }),
      () => ({ sum: { n: direction() } }),
      () => ({ sum: { price: direction(), n: direction() } }),
      () => ({ sum: { big: { direction: direction(), nulls: random.pick(['FIRST', 'LAST']) } } }),
      () => ({ avg: { n: direction() } }),
      () => ({ max: { price: direction() } }),
      () => ({ max: { at: direction() } }),
      ...keys.map((name) => () => ({ key: { [name]: direction() } })),
    ])();
  return random.chance(0.4) ? [] : [one(), ...(random.chance(0.4) ? [one()] : [])];
}

const NUMERIC = new Set(['n', 'big', 'price', 'score', 'secret', 'owner']);

function compareGroups(a: Group, b: Group, by: readonly string[], order: Order): number {
  const terms = order.flatMap((item) =>
    Object.entries(item).flatMap(([of, given]) =>
      of === 'count'
        ? [{ of, name: '', given }]
        : Object.entries<any>(given).map(([name, inner]) => ({ of, name, given: inner })),
    ),
  );
  const names = by.map((each) => each.split('_')[0]!.toLowerCase());
  const valueOf = ({ rows, keys }: Group, of: string, name: string) => {
    if (of === 'count') return rows.length;
    if (of === 'key') return keys[names.indexOf(name)];
    return figure(
      rows,
      of,
      name,
      of === 'avg' ? 'Float' : NUMERIC.has(name) ? 'Decimal' : 'String',
    );
  };
  for (const { of, name, given } of [
    ...terms,
    ...names.map((name) => ({ of: 'key', name, given: 'ASC' })),
  ]) {
    const { direction, nulls } = typeof given === 'string' ? { direction: given } : given;
    const down = direction === 'DESC';
    const [left, right] = [valueOf(a, of, name), valueOf(b, of, name)];
    const first = nulls ?? (down ? 'FIRST' : 'LAST');
    if (left === null || right === null) {
      const by = Number(left === null) - Number(right === null);
      if (by !== 0) return first === 'FIRST' ? -by : by;
      continue;
    }
    const isNumber = (NUMERIC.has(name) && of !== 'avg') || of === 'count';
    const found =
      of === 'avg' ? (left as number) - (right as number) : inOrder(left, right, isNumber);
    if (found !== 0) return down ? -found : found;
  }
  return 0;
}
