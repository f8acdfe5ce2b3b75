import {
  buildSchema,
  getVariableValues,
  GraphQLError,
  type GraphQLInputType,
  type GraphQLScalarType,
  Kind,
  type OperationDefinitionNode,
  parse,
  parseType,
  typeFromAST,
  validateInputValue,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { findFaults } from '../../runtime/core/graphql/input-faults.ts';
import { readVariables } from '../../runtime/core/graphql/variables.ts';
import { createRandom } from './random-schema.ts';

const schema = buildSchema(`
  scalar Coded
  scalar Picky
  scalar Silent
  enum Mood { CALM WILD }
  input Plain { id: ID! name: String count: Int! mood: Mood tags: [String!] coded: Coded picky: Picky! = 1 silent: [Silent!] }
  input Deep { own: Deep list: [Deep!] grid: [[Int]!]! plain: Plain! constructor: Int toString: String! }
  input Choice @oneOf { a: Int b: Plain c: [Choice!] }
  input Filled { count: Int! = 3 name: String! = "n" deep: Deep }
  input Around { filled: Filled! choice: [Choice] last: Boolean! }
  type Query { a: Int }
`);
const scalar = (name: string) => schema.getType(name) as GraphQLScalarType;
scalar('Coded').coerceInputValue = (value) => {
  if (value !== 1) throw new GraphQLError('not coded', { extensions: { code: 'CODED' } });
  return value;
};
scalar('Picky').coerceInputValue = (value) => {
  if (value !== 1) throw new RangeError(`picky about ${String(value)}`);
  return value;
};
scalar('Silent').coerceInputValue = (value) => (value === 1 ? value : undefined);

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
  '[Around!]',
  'Coded',
  '[Picky!]',
  'Silent!',
];
const typeOf = (name: string) => typeFromAST(schema, parseType(name)) as GraphQLInputType;
const NAMES = [
  'id',
  'name',
  'count',
  'mood',
  'tags',
  'coded',
  'picky',
  'silent',
  'own',
  'list',
  'grid',
  'plain',
  'a',
  'b',
  'c',
  'filled',
  'choice',
  'deep',
  'last',
  'toString',
  'constructor',
  'nmae',
  '__proto__',
];
const random = createRandom(11);

function value(depth: number): unknown {
  if (depth > 0 && random.chance(0.6))
    return Object.fromEntries(Array.from({ length: random.below(7) }, () => member(depth)));
  if (depth > 0 && random.chance(0.5))
    return Array.from({ length: random.below(5) }, () => value(depth - 1));
  return random.pick([1, 2.5, 'x', '7', 'CALM', true, null, undefined]);
}

/** What its type would take, mostly. */
const FITTING: Readonly<Record<string, (depth: number) => unknown>> = {
  id: () => '1',
  name: () => 'n',
  count: () => 4,
  mood: () => 'WILD',
  tags: () => ['a', 'b'],
  grid: () => [[1, null], 2],
  a: () => 1,
  coded: () => 1,
  picky: () => 1,
  silent: () => [1, 1],
  last: () => true,
  toString: () => 'x',
  constructor: () => 1,
  plain: (depth) => ({ id: 1, count: 2, ...(value(depth) as object) }),
  b: (depth) => ({ id: 1, count: 2, ...(value(depth) as object) }),
  list: (depth) => Array.from({ length: random.below(4) }, () => value(depth)),
  choice: () =>
    Array.from({ length: 3 }, () => random.pick([{ a: 1 }, { a: null }, { a: 1, b: null }, {}])),
};

function member(depth: number): [string, unknown] {
  const name = random.pick(NAMES);
  return [
    name,
    random.chance(0.7) && Object.hasOwn(FITTING, name)
      ? FITTING[name]?.(depth - 1)
      : value(depth - 1),
  ];
}

const described = ({
  message,
  locations,
  path,
  extensions,
  originalError,
}: GraphQLError): unknown[] => [
  message,
  locations,
  path,
  extensions,
  originalError?.message,
  originalError?.constructor.name,
];

describe('what is wrong with a value', () => {
  it('is told as graphql-js tells it: the same words, places and order', () => {
    const numbers: number[] = [];
    for (let round = 0; round < 8_000; round += 1) {
      const name = random.pick(TYPES);
      const given = value(4);
      const [ours, theirs]: unknown[][][] = [[], []];
      findFaults(given, typeOf(name), (error, at) => ours?.push([...described(error), at]));
      validateInputValue(
        given,
        typeOf(name),
        (error, at) => theirs?.push([...described(error), at]),
        true,
      );
      expect([name, given, ours]).toEqual([name, given, theirs]);
      numbers.push(ours?.length ?? 0);
    }
    expect(numbers.filter((number) => number > 0).length).toBeGreaterThan(3_000);
    expect(numbers.filter((number) => number > 4).length).toBeGreaterThan(200);
  });
});

const operationOf = (text: string) =>
  parse(text).definitions.find(
    (node): node is OperationDefinitionNode => node.kind === Kind.OPERATION_DEFINITION,
  ) as OperationDefinitionNode;
/** What was read, without what graphql-js notes in a definition. */
const read = ({ variableValues }: ReturnType<typeof readVariables>) =>
  variableValues && [
    variableValues.coerced,
    Object.entries(variableValues.sources).map(([name, source]) => [
      name,
      source.value,
      String(source.signature.type),
      'value' in source,
    ]),
  ];
const OPTIONS = { maxErrors: 20, hideSuggestions: true };

describe('the variables of an operation', () => {
  it('are refused with the errors that graphql-js has, and no more of them', () => {
    const numbers: number[] = [];
    for (let round = 0; round < 1_000; round += 1) {
      const types = Array.from({ length: 1 + random.below(3) }, () => random.pick(TYPES));
      const node = operationOf(
        `query (${types.map((type, index) => `$v${index}: ${type}`).join(', ')}, $n: Int! = 3, $list: [Int!] = [1]) { a }`,
      );
      const given = Object.fromEntries([
        ...types.map((_, index) => [`v${index}`, random.chance(0.1) ? undefined : value(4)]),
        ...(random.chance(0.2) ? [['n', value(1)]] : []),
      ]);
      for (const _ of [1, 2]) {
        const ours = readVariables(schema, node, given);
        const theirs = getVariableValues(schema, node.variableDefinitions ?? [], given, OPTIONS);
        expect([given, ours.errors?.map(described)]).toEqual([
          given,
          theirs.errors?.map(described),
        ]);
        expect(JSON.stringify(read(ours))).toBe(JSON.stringify(read(theirs)));
        numbers.push(ours.errors?.length ?? 0);
      }
    }
    expect(new Set(numbers).size).toBeGreaterThan(12);
    expect(Math.max(...numbers)).toBe(21);
  });

  it('are looked at by graphql-js only where they are wrong', () => {
    const node = operationOf('query ($list: [Plain!]!) { a }');
    const list = Array.from({ length: 5_000 }, () => ({ id: '1', count: 1, picky: 1 }));
    let looks = 0;
    const counting = (target: object, wrong: object) =>
      new Proxy(target, {
        get: (object, key) => ((looks += object === wrong ? 0 : 1), Reflect.get(object, key)),
      });
    const last = { id: '1', count: 'one', picky: 1 };
    const { errors } = readVariables(schema, node, {
      list: [...list.map((item) => counting(item, last)), counting(last, last)],
    });
    expect(errors?.map(({ message }) => message)).toEqual([
      'Variable "$list" has invalid value at [5000].count: Int cannot represent non-integer value: "one"',
    ]);
    // Each of its eight members when it is read, and at most twice when the fault is sought.
    expect(looks).toBeLessThanOrEqual(5_000 * 8 * 3);
  });
});
