import type { Diagnostic, Project } from '@twofold/schema';
import type { UserParts } from '../templates/owned/app.ts';

/** The parts of the app that come from the user's optional files. */
export function userPartsOf(userFiles: readonly string[]): UserParts {
  const inFolder = (folder: string) =>
    userFiles.filter((path) => path.startsWith(`${folder}/`)).map(fileStem);
  return {
    resolverTypes: inFolder('src/resolvers'),
    hooks: inFolder('src/hooks'),
    jobs: inFolder('src/jobs'),
    plugins: inFolder('src/plugins'),
    scalars: userFiles.includes('src/scalars.ts'),
    routes: userFiles.includes('src/routes.ts'),
    credentials: userFiles.includes('src/credentials.ts'),
    middleware: userFiles.includes('src/middleware.ts'),
    files: new Set(userFiles),
  };
}

/**
 * A file of resolvers for a type that the schema does not have is kept, left out of the app, and
 * reported.
 */
export function findOrphans(project: Project, userFiles: readonly string[]): Diagnostic[] {
  const { resolverTypes } = userPartsOf(userFiles);
  if (resolverTypes.length === 0) return [];
  const known = typeNames(project);
  return resolverTypes
    .filter((name) => !known.has(name))
    .map((name) => ({
      code: 'RESOLVER_ORPHAN',
      severity: 'warning',
      summary: `src/resolvers/${name}.ts answers fields of ${name}, which the schema does not have`,
      why: 'the type was removed or renamed; your code is kept and is not part of the server',
      fix: `rename the file to the type's new name, or remove it: npm run generator -- prune`,
      at: { file: `src/resolvers/${name}.ts`, line: 1, column: 1, length: 1 },
    }));
}

/** Names of the types that may have resolvers. */
function typeNames(project: Project): ReadonlySet<string> {
  return new Set(
    [...project.sdl.matchAll(/^\s*(?:type|interface|union)\s+(\w+)/gm)].map((match) => match[1]!),
  );
}

/**
 * The name of a file of ours without its folder and `.ts`. Paths of a project have forward slashes
 * everywhere, and this runs in a browser too.
 *
 * @example fileStem('src/resolvers/Post.ts') // 'Post'
 */
const fileStem = (path: string): string =>
  path.slice(path.lastIndexOf('/') + 1).replace(/\.ts$/, '');
