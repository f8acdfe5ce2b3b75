/** Numbers from 0 to 1 that are the same for the same seed. */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e3779b9) >>> 0;
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32;
  };
}

type Schema = Record<string, unknown>;

const PATTERNS = [
  '^[A-Z]{2}-\\d{1,4}$',
  '^(ab|c[d-f])+$',
  '[^a-z]{3}',
  '^\\w+@\\w{2,8}\\.(com|org)$',
];
const NAMES = ['a', 'b b', 'ключ', 'q"uote', 'e\\n', 'long-name_9'];
const VALUES = ['x', 'two words', 'q"', 1, -2.5, true, null, { k: [1] }, [], 'ä\n'];

/** A schema of the words that the grammar keeps, with values that end soon. */
export function randomSchema(next: () => number): Schema {
  const root = node(next, 3);
  if (next() < 0.8) return root;
  return {
    ...{ $ref: '#/$defs/tree' },
    $defs: {
      tree: {
        type: 'object',
        properties: {
          value: root,
          next: { anyOf: [{ type: 'null' }, { $ref: '#/$defs/tree' }] },
        },
        required: next() < 0.5 ? ['next'] : [],
        additionalProperties: false,
      },
    },
  };
}

function node(next: () => number, depth: number): Schema {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)]!;
  const count = (most: number) => Math.floor(next() * (most + 1));
  const leaf = () =>
    pick([
      () => ({ type: pick(['boolean', 'null', 'integer', 'number']) }),
      () => ({ enum: Array.from({ length: 1 + count(3) }, () => pick(VALUES)) }),
      () => ({ const: pick(VALUES) }),
      () => ({ type: 'string', pattern: pick(PATTERNS) }),
      () => ({ type: 'string', format: pick(['date', 'date-time', 'uuid']) }),
      () => ({ type: 'string', maxLength: 3 + count(20), minLength: count(3) }),
      () => ({ type: pick(['number', 'integer']), ...bounds(next) }),
      () => ({ type: ['null', 'integer'], title: 'either', description: 'one of both' }),
    ])();
  if (depth === 0 || next() < 0.35) return leaf();
  return pick([
    () => object(next, depth),
    () => object(next, depth),
    () => {
      const least = count(2);
      return {
        ...{ type: 'array', items: node(next, depth - 1) },
        ...{ minItems: least, maxItems: least + count(3) },
      };
    },
    () => ({ anyOf: Array.from({ length: 1 + count(2) }, () => node(next, depth - 1)) }),
  ])();
}

function object(next: () => number, depth: number): Schema {
  const names = NAMES.filter(() => next() < 0.5);
  const required = names.filter(() => next() < 0.5);
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, node(next, depth - 1)])),
    ...(next() < 0.7 && { required }),
    additionalProperties: names.length === 0 && next() < 0.3 ? { type: 'boolean' } : false,
  };
}

/** Bounds between which there is at least one integer. */
function bounds(next: () => number): Schema {
  const size = 10 ** Math.floor(next() * 7);
  const low = Math.round((next() - 0.5) * size * 100) / 100;
  const high = Math.round((low + 2 + next() * size) * 100) / 100;
  const lower = next() < 0.5 ? { minimum: low } : { exclusiveMinimum: low };
  const upper = next() < 0.5 ? { maximum: high } : { exclusiveMaximum: high };
  const [only, both] = [next(), next()];
  return only < 0.2 ? lower : only < 0.4 ? upper : both < 1 ? { ...lower, ...upper } : {};
}
