import {
  buildSchema,
  type FieldNode,
  getArgumentValues,
  getVariableValues,
  GraphQLError,
  Kind,
  parse,
  type GraphQLField,
  type GraphQLObjectType,
  type OperationDefinitionNode,
  type VariableValues,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { argumentValues } from '../../runtime/core/graphql/argument-values.ts';

const schema = buildSchema(`
  enum Size { SMALL LARGE }
  input Filter { name: String = "Ada" tags: [String!] }
  type Query {
    none: String
    plain(id: ID, n: Int, size: Size, f: Float): String
    required(n: Int!): String
    defaults(n: Int = 20, size: Size! = LARGE, filter: Filter = { name: "Bob" }): String
    composed(list: [Int!], filter: Filter): String
  }
`);
const fields = (schema.getQueryType() as GraphQLObjectType).getFields();

/** The answer, or what was thrown. */
const attempt = (work: () => unknown) => {
  try {
    return JSON.parse(JSON.stringify(work()));
  } catch (error) {
    if (error instanceof GraphQLError) return error.message;
    throw error;
  }
};

function compare(document: string, requests: readonly Record<string, unknown>[]): void {
  const operation = parse(document).definitions.find(
    (each): each is OperationDefinitionNode => each.kind === Kind.OPERATION_DEFINITION,
  ) as OperationDefinitionNode;
  const node = operation.selectionSet.selections[0] as FieldNode;
  const definition = fields[node.name.value] as GraphQLField<unknown, unknown>;
  const read = (variables: VariableValues) => argumentValues(definition, node, variables);
  for (const round of [1, 2]) {
    for (const given of requests) {
      const { variableValues, errors } = getVariableValues(
        schema,
        operation.variableDefinitions ?? [],
        given,
      );
      if (!variableValues) throw new TypeError(errors.map(({ message }) => message).join());
      const expected = attempt(() =>
        getArgumentValues(definition, node, variableValues, undefined, true),
      );
      expect([round, document, given, attempt(() => read(variableValues))]).toEqual([
        round,
        document,
        given,
        expected,
      ]);
    }
  }
}

describe('arguments of a field', () => {
  it('come to what graphql-js makes of them', () => {
    compare('{ none }', [{}]);
    compare('{ plain }', [{}]);
    compare('{ plain(id: 7, n: 3, size: SMALL, f: 1) }', [{}]);
    compare('{ plain(id: null, n: null) }', [{}]);
    compare('query ($n: Int, $id: ID, $size: Size) { plain(n: $n, id: $id, size: $size) }', [
      { n: 1, id: 'a', size: 'LARGE' },
      { n: null },
      {},
      { id: 0 },
    ]);
    compare('query ($n: Int) { plain(n: $n, size: LARGE) }', [{}, { n: 5 }, { n: null }]);
  });

  it('take their defaults where nothing is given, whichever request came first', () => {
    const requests = [{}, { n: 1, size: 'SMALL' }, { n: null }, { n: 2 }];
    for (const order of [requests, requests.toReversed()])
      compare(
        'query ($n: Int, $size: Size) { defaults(n: $n, size: $size) }',
        order.map((given) => ({ size: 'SMALL', ...given })),
      );
    compare('{ defaults }', [{}]);
    compare('query ($n: Int = 3) { defaults(n: $n) }', [{}, { n: 4 }, { n: null }]);
  });

  it('are refused where null may not be', () => {
    compare('query ($n: Int!) { required(n: $n) }', [{ n: 1 }]);
    compare('query ($n: Int) { required(n: $n) }', [{ n: 1 }, {}, { n: null }]);
    compare('query ($size: Size) { defaults(size: $size) }', [
      { size: 'SMALL' },
      {},
      { size: null },
    ]);
  });

  it('may be lists and objects, made anew for each request', () => {
    compare('query ($n: Int!) { composed(list: [1, $n], filter: { tags: ["a"] }) }', [
      { n: 2 },
      { n: 3 },
    ]);
    compare('query ($filter: Filter) { composed(filter: $filter) }', [
      { filter: { tags: ['a'] } },
      { filter: null },
      {},
    ]);
    const node = (
      parse('{ composed(filter: { name: "x" }) }').definitions[0] as OperationDefinitionNode
    ).selectionSet.selections[0] as FieldNode;
    const read = (variables: VariableValues) =>
      argumentValues(fields['composed'] as GraphQLField<unknown, unknown>, node, variables);
    const none = { sources: {}, coerced: {} };
    expect(read(none)['filter']).not.toBe(read(none)['filter']);
    expect(read(none)).toEqual(read(none));
  });
});
