import type { Random } from '../graphql/random-schema.ts';
import {
  BIGS,
  DECIMALS,
  NUMBERS,
  randomJson,
  STATUSES,
  TAGS,
  TEXTS,
  TIMES,
} from './random-world.ts';

type Input = Record<string, unknown>;

const IDS = ['1', '2', '5', '9', 'x'];
const PARTS = ['a', 'A', 'é', 'Σ', 'σ', 'ба', '%', '_', ''];

const listOf = (random: Random, of: readonly unknown[], nulls: boolean) =>
  Array.from({ length: random.below(4) }, () =>
    nulls && random.chance(0.2) ? null : random.pick(of),
  );

/** One word with a value for it. */
function word(random: Random, of: readonly unknown[], names: string): Input {
  const name = random.pick(names.split(' '));
  const nullable = random.chance(0.1) && (name === 'eq' || name === 'ne');
  if (nullable) return { [name]: null };
  if (name === 'in' || name === 'notIn') return { [name]: listOf(random, of, true) };
  if (name === 'hasSome' || name === 'hasEvery') return { [name]: listOf(random, of, false) };
  if (name === 'isNull' || name === 'isEmpty') return { [name]: random.chance(0.5) };
  if (/contains|With/.test(name)) return { [name]: random.pick(PARTS) };
  return { [name]: random.pick(of) };
}

const EQUALITY = 'eq ne in notIn isNull';
const TEXT = `${EQUALITY} lt lte gt gte contains startsWith endsWith contains startsWith`;
const LIST = 'has has hasSome hasEvery isEmpty eq';

function textWords(random: Random, depth = 1): Input {
  const mode = random.chance(0.5) ? { mode: random.pick(['SENSITIVE', 'INSENSITIVE', null]) } : {};
  if (depth > 0 && random.chance(0.2)) {
    const group = random.pick(['and', 'or', 'not']);
    const inner = () => textWords(random, depth - 1);
    return { ...mode, [group]: group === 'not' ? inner() : listed(random, inner) };
  }
  return { ...mode, ...word(random, TEXTS, TEXT) };
}

const listed = (random: Random, one: () => unknown) => Array.from({ length: random.below(3) }, one);

/** A list that equals: of the same items. */
function listWords(random: Random, of: readonly unknown[], names = LIST): Input {
  const given = word(random, of, names);
  const [[name, value] = ['', null]] = Object.entries(given);
  return (name === 'eq' || name === 'ne') && value !== null
    ? { [name]: listOf(random, of, false) }
    : given;
}

const PATHS = [['a'], ['0'], ['a', '0'], ['b', 'a'], ['x.y'], ['1', 'b', '0'], [], ['a', 'b', 'c']];

function jsonWords(random: Random, depth = 1): Input {
  const beside = {
    ...(random.chance(0.7) && { path: random.pick([...PATHS, null]) }),
    ...(random.chance(0.3) && { mode: 'INSENSITIVE' }),
  };
  if (depth > 0 && random.chance(0.15)) return { ...beside, not: jsonWords(random, depth - 1) };
  const name = random.pick(
    `${EQUALITY} lt lte gt gte contains startsWith endsWith has hasSome hasEvery isEmpty`.split(
      ' ',
    ),
  );
  const json = () => randomJson(random, random.below(3)) ?? 1;
  if (/^(lt|lte|gt|gte)$/.test(name))
    return { ...beside, [name]: random.pick([0, 1, 1.5, '1', 'a', 'A', '']) };
  if (/^(in|notIn|hasSome|hasEvery)$/.test(name)) {
    const nulls = name === 'in' || name === 'notIn';
    return {
      ...beside,
      [name]: listed(random, () => (nulls && random.chance(0.2) ? null : json())),
    };
  }
  if (/^(eq|ne|has)$/.test(name)) return { ...beside, [name]: json() };
  return { ...beside, ...word(random, PARTS, name) };
}

const numberWords = (random: Random, of: readonly unknown[], names: string): Input =>
  word(random, of, names);

const NUMBER = `${EQUALITY} lt lte gt gte`;

function placeFilter(random: Random, depth: number): Input | null {
  if (random.chance(0.1)) return null;
  if (random.chance(0.1)) return { isNull: random.chance(0.5) };
  if (depth > 0 && random.chance(0.25)) {
    const group = random.pick(['and', 'or', 'not']);
    const inner = () => placeFilter(random, 0) ?? {};
    return { [group]: group === 'not' ? inner() : listed(random, inner) };
  }
  const members: (() => Input)[] = [
    () => ({ city: textWords(random) }),
    () => ({ zip: numberWords(random, NUMBERS, NUMBER) }),
    () => ({ big: numberWords(random, BIGS, 'eq lt in') }),
    () => ({ price: numberWords(random, DECIMALS, 'eq gt ne') }),
    () => ({ open: word(random, [true, false], 'eq ne') }),
    () => ({ at: word(random, TIMES, 'eq ne in lt gte isNull') }),
    () => ({ tags: listWords(random, TAGS) }),
    () => ({ status: word(random, STATUSES, EQUALITY) }),
    () => ({ meta: jsonWords(random) }),
    () => ({ inner: depth > 0 ? placeFilter(random, depth - 1) : null }),
  ];
  return random.pick(members)();
}

export function postFilter(random: Random, depth: number): Input {
  if (depth > 0 && random.chance(0.35)) {
    const group = random.pick(['and', 'or', 'not']);
    const inner = () => postFilter(random, depth - 1);
    return { [group]: group === 'not' ? inner() : listed(random, inner) };
  }
  const members: (() => Input)[] = [
    () => ({ id: word(random, IDS, EQUALITY) }),
    () => ({ title: random.chance(0.05) ? null : textWords(random) }),
    () => ({ status: word(random, STATUSES, EQUALITY) }),
    () => ({ views: numberWords(random, NUMBERS, NUMBER) }),
    () => ({ tags: random.chance(0.05) ? null : listWords(random, TAGS, `${LIST} ne isNull`) }),
    () => ({ numbers: listWords(random, NUMBERS) }),
    () => ({ flags: listWords(random, [true, false]) }),
    () => ({ states: listWords(random, STATUSES) }),
    () => ({ meta: jsonWords(random) }),
    () => ({ meta: jsonWords(random) }),
    () => ({ place: placeFilter(random, 2) }),
    () => ({ author: depth > 0 ? personFilter(random, depth - 1) : null }),
    () => ({ comments: manyWords(random, depth, () => ({ text: textWords(random) })) }),
  ];
  return Object.assign(
    {},
    ...Array.from({ length: 1 + random.below(2) }, () => random.pick(members)()),
  );
}

function personFilter(random: Random, depth: number): Input {
  if (random.chance(0.2)) return { isNull: random.chance(0.5) };
  if (depth > 0 && random.chance(0.3)) {
    const group = random.pick(['and', 'or', 'not']);
    const inner = () => personFilter(random, depth - 1);
    return { [group]: group === 'not' ? inner() : listed(random, inner) };
  }
  return depth > 0 && random.chance(0.4)
    ? { posts: manyWords(random, depth, () => postFilter(random, depth - 1)) }
    : { name: textWords(random) };
}

function manyWords(random: Random, depth: number, inner: () => Input): Input {
  const quantifier = random.pick(['some', 'every', 'none', 'count']);
  if (quantifier === 'count')
    return { count: word(random, [0, 1, 2], 'eq ne in notIn lt lte gt gte') };
  return { [quantifier]: depth > 0 && random.chance(0.8) ? inner() : {} };
}
