/**
 * The name of a file of ours without its folder and `.ts`. Paths of a project have forward slashes
 * everywhere, and this runs in a browser too.
 *
 * @example fileStem('src/resolvers/Post.ts') // 'Post'
 */
export const fileStem = (path: string): string =>
  path.slice(path.lastIndexOf('/') + 1).replace(/\.ts$/, '');
