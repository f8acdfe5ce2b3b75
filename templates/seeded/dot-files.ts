/** `.gitignore`: a scaffold. */
export function renderGitignore(): string {
  return `node_modules/
.env
data/
*.log
.generator/*
!.generator/base.json
`;
}

/**
 * `.gitattributes`: a scaffold. A git merge keeps the lines of both sides in two files, and the
 * next run corrects them.
 */
export function renderGitattributes(): string {
  return `generator.lock merge=union
.generator/base.json merge=union linguist-generated
src/generated/** linguist-generated
`;
}

/** `.dockerignore`: a scaffold. */
export function renderDockerignore(): string {
  return `node_modules
.env
.git
.generator
data
`;
}

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
