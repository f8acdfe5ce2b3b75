/**
 * `.graphqlrc.yaml`: a scaffold, with which editors complete and check the schema and the
 * generator's directives.
 */
export function renderGraphqlConfig(): string {
  return `schema:
  - schema.graphql
  - schema/*.graphql
  - src/generated/*.graphql
  - node_modules/@twofold/schema/directives.graphql
`;
}
