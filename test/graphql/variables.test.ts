import {
  buildSchema,
  type GraphQLInputType,
  getVariableValues,
  Kind,
  parse,
  type OperationDefinitionNode,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { keepCallersOrder } from '../../runtime/core/graphql/caller-order.ts';
import { readVariables } from '../../runtime/core/graphql/variables.ts';

const schema = buildSchema(`
  enum Size { SMALL LARGE }
  input Filter { name: String = "Ada" size: Size tags: [String!] not: Filter }
  input Order { title: String views: String }
  type Query { x(by: [Order!], id: ID, n: Int!, f: Float, b: Boolean, size: Size, list: [Int!], filter: Filter): String }
`);

const operationOf = (text: string) =>
  parse(text).definitions.find(
    (node): node is OperationDefinitionNode => node.kind === Kind.OPERATION_DEFINITION,
  ) as OperationDefinitionNode;

/** What graphql-js makes of it, in a form that compares. */
const plain = ({ variableValues, errors }: ReturnType<typeof readVariables>) =>
  errors
    ? { errors: errors.map(({ message }) => message) }
    : JSON.parse(
        JSON.stringify({
          coerced: variableValues.coerced,
          given: Object.keys(variableValues.sources),
          values: Object.entries(variableValues.sources).map(([name, source]) => [
            name,
            'value' in source,
          ]),
        }),
      );

const DEFINITIONS =
  'query ($id: ID, $n: Int!, $f: Float = 1.5, $b: Boolean, $size: Size, $list: [Int!], $filter: Filter)';
const GIVEN: readonly Record<string, unknown>[] = [
  { n: 1 },
  {
    n: 1,
    id: 7,
    f: 2,
    b: true,
    size: 'LARGE',
    list: [1, 2],
    filter: { size: 'SMALL', not: { name: null } },
  },
  { n: 1, id: 'x', f: null, list: 5, filter: {} },
  { n: 2 ** 31 },
  { n: '1' },
  { n: null },
  {},
  { n: 1, size: 'MEDIUM' },
  { n: 1, list: [1, null] },
  { n: 1, filter: { nothing: 1 } },
  { n: 1, filter: { tags: [['a']] } },
  { n: 1, b: undefined, id: undefined },
  { n: 1, unknown: 'is ignored' },
  { n: 1, f: Number.NaN },
  Object.assign(Object.create({ id: 'inherited' }) as object, { n: 1 }),
];

describe('variables', () => {
  it('come to what graphql-js makes of them, on the first request and on all that follow', () => {
    const node = operationOf(`${DEFINITIONS} { x(n: $n) }`);
    for (const round of [1, 2]) {
      for (const given of GIVEN) {
        const expected = getVariableValues(schema, node.variableDefinitions ?? [], given, {
          maxErrors: 20,
          hideSuggestions: true,
        });
        expect([round, given, plain(readVariables({ schema }, node, given))]).toEqual([
          round,
          given,
          plain(expected),
        ]);
      }
    }
  });

  it('are read the same when the first request of a document was a wrong one', () => {
    const node = operationOf(`${DEFINITIONS} { x(n: $n) }`);
    expect(readVariables({ schema }, node, { n: 'one' }).errors).toHaveLength(1);
    expect(readVariables({ schema }, node, { n: 3 }).variableValues?.coerced).toMatchObject({
      n: 3,
      f: 1.5,
    });
    expect(readVariables({ schema }, node, { n: 4, f: 0 }).variableValues?.coerced).toMatchObject({
      n: 4,
      f: 0,
    });
  });

  it('keep the order in which a caller wrote an order, in JSON and in a default', () => {
    keepCallersOrder(schema.getType('Order') as GraphQLInputType);
    const node = operationOf(
      'query ($by: [Order!] = [{ views: "DESC", title: "ASC" }, { title: "ASC" }], $n: Int!) { x(n: $n, by: $by) }',
    );
    const read = (given: object) =>
      JSON.stringify(
        readVariables({ schema }, node, { n: 1, ...given }).variableValues?.coerced['by'],
      );
    expect(read({})).toBe('[{"views":"DESC","title":"ASC"},{"title":"ASC"}]');
    expect(read({ by: { views: 'A', title: 'B' } })).toBe('[{"views":"A","title":"B"}]');
    expect(
      read({
        by: [
          { title: 'A', views: 'B' },
          { views: 'C', title: null },
        ],
      }),
    ).toBe('[{"title":"A","views":"B"},{"views":"C","title":null}]');
    expect(read({ by: null })).toBe('null');
  });

  it('are refused before they are read when there are more values than a request may have', () => {
    const node = operationOf('query ($n: Int!, $list: [Int!], $filter: [Filter]) { x(n: $n) }');
    const errorOf = (given: object) =>
      readVariables({ schema }, node, { n: 1, ...given }).errors?.[0];
    const numbers = (length: number) => Array.from({ length }, () => 1);
    expect(errorOf({ list: numbers(200_000) })).toBeUndefined();
    expect(errorOf({ list: numbers(200_001) })?.toJSON()).toMatchObject({
      message: 'Variable "$list" has more than 200000 values: send it in several requests',
      extensions: { code: 'BAD_USER_INPUT', limit: 200_000 },
    });
    // A filter has four fields, and each of them is looked at whether it is given or not.
    expect(errorOf({ filter: numbers(50_000).map(() => ({})) })).toBeUndefined();
    expect(errorOf({ filter: numbers(50_001).map(() => ({})) })?.message).toContain('"$filter"');
    // All variables of a request count together.
    expect(
      errorOf({ list: numbers(150_000), filter: numbers(12_501).map(() => ({})) })?.message,
    ).toContain('"$filter"');
  });

  it('of a document without any are none', () => {
    const node = operationOf('{ x(n: 1) }');
    for (const given of [{}, { n: 1 }])
      expect(
        Object.keys(readVariables({ schema }, node, given).variableValues?.coerced ?? { x: 1 }),
      ).toEqual([]);
  });
});

it('name all that is wrong in the first error: types, enums, unknown and missing fields, constraints', () => {
  const schema = buildSchema(`
    enum Level { LOW HIGH }
    input Inner { name: String! }
    input New { title: String! level: Level count: Int inner: [Inner!] }
    type Query { a(input: New!, n: Int!): Int }
  `);
  const [node] = parse('query ($input: New!, $n: Int!, $m: Int = 1) { a(input: $input, n: $n) }')
    .definitions as [OperationDefinitionNode];
  const constraints = { 'New.title': { minLength: 3 } };
  const input = { title: 'a', level: 'MID', count: 'x', inner: [{ nam: 1 }] };
  const { errors } = readVariables({ schema, constraints }, node, { input });
  expect(errors?.[0]?.extensions).toEqual({
    code: 'BAD_USER_INPUT',
    field: 'input.title',
    errors: [
      { field: 'input.title', message: 'must have at least 3 characters' },
      { field: 'input.level', message: 'must be one of LOW, HIGH' },
      { field: 'input.count', message: 'is not a valid Int' },
      { field: 'input.inner.0.name', message: 'is required' },
      { field: 'input.inner.0.nam', message: 'is not a known field' },
      { field: 'n', message: 'is required' },
    ],
  });
});
