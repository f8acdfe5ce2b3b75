/**
 * `.graphqlrc.yaml`: a scaffold. Editors complete and check the schema, the generator's directives
 * included.
 */
export function renderGraphqlConfig(): string {
  return `schema:
  - schema.graphql
  - schema/*.graphql
  - node_modules/@twofold/schema/directives.graphql
`;
}
