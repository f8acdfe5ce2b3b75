import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The response for a path without a file. `files`: 404. `pages`: the site's 404.html, else its
 * index.html. `app`: index.html, because the app renders the page in the browser.
 */
export type MissMode = 'files' | 'pages' | 'app';

/** The last stage of a Dockerfile, and our own files that it copies. */
export interface StaticStage {
  readonly lines: readonly string[];
  readonly files: Readonly<Record<string, string>>;
}

/** The server's file: TypeScript in a checkout, JavaScript in a package. Node.js 24 runs both. */
const PROGRAM = fileURLToPath(import.meta.url).replace(/image(\.[jt]s)$/, 'server$1');
/** A name that no project uses. */
const COPIED = `.twofold.server.m${extname(PROGRAM).slice(1)}`;

/**
 * The stage that serves a folder. `from` is the argument of COPY: a folder of the source, or a
 * stage and its folder.
 *
 * @example staticStage('public', 'files').lines[0] // 'FROM docker.io/library/node:24-slim'
 */
export function staticStage(from: string, mode: MissMode): StaticStage {
  const program = `/server/${COPIED.slice('.twofold.'.length)}`;
  return {
    lines: [
      'FROM docker.io/library/node:24-slim',
      `COPY ${COPIED} ${program}`,
      `COPY ${from} /www`,
      'USER 1000:1000',
      `CMD ${JSON.stringify(['node', program, '/www', mode])}`,
    ],
    files: { [COPIED]: readFileSync(PROGRAM, 'utf8') },
  };
}
