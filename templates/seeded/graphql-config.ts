/** `.graphqlrc.yaml`: a scaffold. Editors complete and check the schema, the generator's directives included. */
export function renderGraphqlConfig(): string {
  return `schema:
  - schema.graphql
  - schema/*.graphql
  - src/generated/directives.graphql
`;
}
