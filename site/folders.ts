import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the repository. */
export const root = fileURLToPath(new URL('..', import.meta.url));

/** What the build of the site makes. Nothing of it is committed. */
const built = join(root, '.build/site');

/** Pages as VitePress reads them: links are addresses of the site. */
export const stagedPages = join(built, 'pages');

/** The finished site: any server of static files can serve it. */
export const output = join(built, 'dist');

/** Where sources are that are no pages. */
export const SOURCES = 'https://github.com/twofold/twofold/blob/main';
