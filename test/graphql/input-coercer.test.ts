import {
  buildSchema,
  coerceInputValue,
  type GraphQLInputType,
  parseType,
  typeFromAST,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { coercerOf } from '../../runtime/core/graphql/input-coercer.ts';
import { createRandom } from './random-schema.ts';

const schema = buildSchema(`
  enum Mood { CALM WILD }
  input Plain { id: ID! name: String count: Int mood: Mood tags: [String!] }
  input Deep { own: Deep list: [Deep!] grid: [[Int]!] plain: Plain constructor: Int }
  input Choice @oneOf { a: Int b: Plain }
  input Filled { count: Int! = 3 name: String }
  input Around { filled: Filled choice: [Choice] }
  type Query { a: Int }
`);

const TYPES = [
  'Int',
  'String!',
  'Mood',
  '[ID!]!',
  '[[Int!]]',
  'Plain',
  'Plain!',
  'Deep',
  '[Deep]',
  'Choice',
  '[Choice!]!',
  'Filled',
  'Around!',
];
const typeOf = (name: string) => typeFromAST(schema, parseType(name)) as GraphQLInputType;
const NAMES = [
  'id',
  'name',
  'count',
  'mood',
  'tags',
  'own',
  'list',
  'grid',
  'plain',
  'a',
  'b',
  'filled',
  'choice',
  'other',
  '__proto__',
];
const random = createRandom(7);

/** What a body may hold: mostly what some type would take. */
function value(depth: number): unknown {
  if (depth > 0 && random.chance(0.5))
    return Object.fromEntries(Array.from({ length: random.below(3) }, () => member(depth)));
  if (depth > 0 && random.chance(0.3))
    return Array.from({ length: random.below(3) }, () => value(depth - 1));
  return random.pick([1, 2.5, 'x', '7', 'CALM', true, null]);
}

const FITTING: Readonly<Record<string, () => unknown>> = {
  id: () => random.pick(['1', 2]),
  name: () => 'n',
  count: () => 4,
  mood: () => 'WILD',
  tags: () => ['a', 'b'],
  grid: () => [[1, null], 2],
  a: () => 1,
};

function member(depth: number): [string, unknown] {
  const name = random.pick(NAMES);
  return [
    name,
    random.chance(0.7) && Object.hasOwn(FITTING, name) ? FITTING[name]?.() : value(depth - 1),
  ];
}

describe('a value of a variable', () => {
  it('becomes what graphql-js makes of it, or nothing where it does', () => {
    let taken = 0;
    for (let round = 0; round < 15_000; round += 1) {
      const name = random.pick(TYPES);
      const given = value(4);
      const ours = coercerOf(typeOf(name))(given);
      if (ours !== undefined && ours !== null) taken += 1;
      expect([name, given, JSON.stringify(ours)]).toEqual([
        name,
        given,
        JSON.stringify(coerceInputValue(given, typeOf(name))),
      ]);
    }
    expect(taken).toBeGreaterThan(1000);
  });

  it('has no member that nobody gave', () => {
    const made = coercerOf(typeOf('Plain'))({ id: '1' }) as object;
    expect('toString' in made).toBe(false);
    expect(Object.keys(made)).toEqual(['id']);
  });
});
