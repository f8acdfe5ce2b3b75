/** `.gitignore`: a scaffold. */
export function renderGitignore(): string {
  return `node_modules/
.env
data/
*.log
.generator/*
!.generator/base/
`;
}

/** `.gitattributes`: a scaffold. After a merge the lock holds the lines of both sides, and the next run puts it right. */
export function renderGitattributes(): string {
  return `generator.lock merge=union
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
