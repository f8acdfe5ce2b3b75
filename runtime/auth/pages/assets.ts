import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { extname, resolve, sep } from 'node:path';
import { type AuthModel, shade } from '@twofold/schema';
import { readDesign } from '@twofold/runtime/http';

/** A file that the pages load. */
export interface Asset {
  readonly type: string;
  readonly content: string | Buffer;
  readonly tag: string;
}

/** Sources for the browser: TypeScript in a checkout, JavaScript in the package. */
const BROWSER = new URL('./browser/', import.meta.url);

const IMAGE_TYPES: Readonly<Record<string, string>> = {
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.webp': 'image/webp',
  '.gif': 'image/gif',
};

/** The background of a card in dark colors, `--sheet` of the design. */
const DARK = '#151619';

export interface PageAssets {
  readonly files: ReadonlyMap<string, Asset>;
  readonly script: string;
  readonly logo: string | null;
}

type Theme = Exclude<AuthModel['pages'], false>['theme'];

/** Stylesheet, script and logo by their names. Files of the project are read from its folder. */
export async function createPageAssets(theme: Theme, root: string): Promise<PageAssets> {
  const names = await readdir(BROWSER);
  const script = names.includes('passkeys.ts') ? 'passkeys.ts' : 'passkeys.js';
  const code = await readFile(new URL(script, BROWSER), 'utf8');
  const style = await readFile(new URL('pages.css', BROWSER), 'utf8');
  const own = theme.css === null ? '' : String(await readOwn(root, theme.css));
  const files = new Map([
    ['pages.css', asset('text/css', `${await readDesign()}${colors(theme)}${style}\n${own}`)],
    [
      'passkeys.js',
      asset('text/javascript', script.endsWith('.ts') ? stripTypeScriptTypes(code) : code),
    ],
  ]);
  const logo = theme.logo === null ? null : `logo${extname(theme.logo)}`;
  if (theme.logo !== null && logo !== null) {
    const type = IMAGE_TYPES[extname(theme.logo).toLowerCase()] ?? 'application/octet-stream';
    files.set(logo, asset(type, await readOwn(root, theme.logo)));
  }
  return { files, script: 'passkeys.js', logo };
}

/** The accent, and a lighter shade of it that is readable on dark pages. */
function colors({ accent }: Theme): string {
  return `:root{--accent:light-dark(${accent},${shade(accent, '#ffffff', DARK, 8)})}\n`;
}

/** Reads a file below the project's folder. A path outside of it gives no bytes. */
async function readOwn(root: string, path: string): Promise<Buffer> {
  const file = resolve(root, path);
  if (!file.startsWith(resolve(root) + sep)) return Buffer.alloc(0);
  return readFile(file);
}

const asset = (type: string, content: string | Buffer): Asset => ({
  type,
  content,
  tag: `"${createHash('sha256').update(content).digest('base64url').slice(0, 20)}"`,
});
