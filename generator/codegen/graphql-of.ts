import { createRequire } from 'node:module';
import { join } from 'node:path';

export type GraphqlModule = typeof import('graphql');

/**
 * The `graphql` that a file's own imports lead to, and else that of the project. Two copies of it
 * do not accept each other's schemas. Modules of the two forms share one copy in version 16; in
 * version 17 `require` and `import` of Node give the same one as well.
 *
 * @throws Error when there is none.
 */
export function graphqlOf(
  root: string,
  file: string,
): { readonly path: string; readonly module: GraphqlModule } {
  for (const from of [file, join(root, 'package.json')]) {
    const require = createRequire(from);
    try {
      const path = require.resolve('graphql');
      return { path, module: require(path) as GraphqlModule };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    }
  }
  throw new Error('graphql is not installed: npm install -D graphql');
}
