/** A schema of `count` entities like the ones people have: ten fields, inputs, queries and mutations each. */
export function syntheticSchema(count: number): string {
  const types = Array.from({ length: count }, (_, at) => syntheticType(at, count));
  const fields = (root: string) =>
    Array.from({ length: count }, (_, at) => rootFields(at)[root as 'query' | 'mutation']).join(
      '\n',
    );
  return `scalar DateTime\n\nenum Status {\n  OPEN\n  CLOSED\n}\n\n${types.join('\n\n')}\n\ntype Query {\n${fields('query')}\n}\n\ntype Mutation {\n${fields('mutation')}\n}\n`;
}

function syntheticType(at: number, count: number): string {
  const name = `Thing${at}`;
  const parent =
    at === 0 ? '' : `  parent${Math.floor(at / 2)}: Thing${Math.floor((at - 1) / 2)}\n`;
  void count;
  return `"""Number ${at} of the things."""
type ${name} {
  id: ID!
  name: String!
  code: String! @unique
  status: Status!
  amount: Float
  quantity: Int!
  active: Boolean!
  note: String
  createdAt: DateTime!
${parent}}

input Create${name}Input {
  name: String!
  code: String!
  status: Status!
  amount: Float
  quantity: Int!
  active: Boolean!
}

input Update${name}Input {
  name: String
  status: Status
  amount: Float
  active: Boolean
}`;
}

function rootFields(at: number): { query: string; mutation: string } {
  const [type, field] = [`Thing${at}`, `thing${at}`];
  return {
    query: `  ${field}(id: ID!): ${type}\n  ${field}s(status: Status, limit: Int, offset: Int): [${type}!]!`,
    mutation: `  create${type}(input: Create${type}Input!): ${type}!\n  update${type}(id: ID!, input: Update${type}Input!): ${type}\n  delete${type}(id: ID!): Boolean!`,
  };
}
