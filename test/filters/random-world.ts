import type { Random } from '../graphql/random-schema.ts';

export type Row = Readonly<Record<string, unknown>>;

/** Rows by table. Values are as the oracle compares them: JSON is parsed, keys are numbers. */
export type World = Readonly<Record<'people' | 'posts' | 'comments', readonly Row[]>>;

export const TEXTS = ['', 'a', 'A', 'Éa', 'éA', 'ΣΑΣ', 'σας', 'ба', 'БА', '50%', 'a_b', "o'x"];
export const TAGS = ['a', 'b', 'A'];
export const STATUSES = ['DRAFT', 'LIVE'];
export const NUMBERS = [-1, 0, 1, 2, 10];
export const DECIMALS = ['-1.5', '0', '2', '10.25'];
export const BIGS = ['9007199254740993', '-2', '10'];
export const TIMES = ['2026-01-01T00:00:00.000Z', '2026-02-01T00:00:00.000Z'];
const ROWS = 10;

const maybe = (random: Random, value: () => unknown): unknown =>
  random.chance(0.3) ? null : value();

const some = (random: Random, of: readonly unknown[]): unknown[] =>
  Array.from({ length: random.below(4) }, () => random.pick(of));

/** Any JSON, with texts and numbers that look alike. */
export function randomJson(random: Random, depth: number): unknown {
  const leaves = [null, true, false, 0, 1, 1.5, 10, '1', 'a', 'A', '', '10'];
  if (depth === 0 || random.chance(0.3)) return random.pick(leaves);
  if (random.chance(0.5))
    return Array.from({ length: random.below(3) }, () => randomJson(random, depth - 1));
  return Object.fromEntries(
    some(random, ['a', 'b', '0', 'x.y']).map((key) => [key, randomJson(random, depth - 1)]),
  );
}

function randomPlace(random: Random, depth: number): unknown {
  const optional = (of: readonly unknown[]) => maybe(random, () => random.pick(of));
  return {
    city: optional(TEXTS),
    zip: optional(NUMBERS),
    big: optional(BIGS),
    price: optional(DECIMALS),
    open: optional([true, false]),
    at: optional(TIMES),
    tags: maybe(random, () => some(random, TAGS)),
    status: optional(STATUSES),
    meta: maybe(random, () => randomJson(random, 2)),
    inner: depth === 0 ? null : maybe(random, () => randomPlace(random, depth - 1)),
  };
}

export function randomWorld(random: Random): World {
  const rows = (row: (id: number) => Row) =>
    Array.from({ length: ROWS }, (_, index) => ({ id: index + 1, ...row(index + 1) }));
  const key = () => (random.chance(0.2) ? null : 1 + random.below(ROWS));
  const optional = (of: readonly unknown[]) => maybe(random, () => random.pick(of));
  return {
    people: rows(() => ({ name: random.pick(TEXTS) })),
    posts: rows(() => ({
      title: optional(TEXTS),
      status: optional(STATUSES),
      views: optional(NUMBERS),
      tags: maybe(random, () => some(random, TAGS)),
      numbers: maybe(random, () => some(random, NUMBERS)),
      flags: maybe(random, () => some(random, [true, false])),
      states: maybe(random, () => some(random, STATUSES)),
      meta: maybe(random, () => randomJson(random, 3)),
      place: maybe(random, () => randomPlace(random, 1)),
      author_id: key(),
    })),
    comments: rows(() => ({ text: random.pick(TEXTS), post_id: key() ?? 1 })),
  };
}
