import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix, sep } from 'node:path';

/**
 * Checks every link of the finished site: its file exists, and so does the heading that it names.
 *
 * @throws Error that lists each link that leads nowhere.
 */
export function checkLinks(folder: string): void {
  const pages = new Map(
    htmlFiles(folder).map((path) => [path, readFileSync(join(folder, path), 'utf8')]),
  );
  const ids = new Map([...pages].map(([path, html]) => [path, idsOf(html)]));
  const dead = [...pages].flatMap(([path, html]) =>
    linksOf(html)
      .filter((link) => !leads(folder, path, link, ids))
      .map((link) => `${path}: ${link}`),
  );
  if (dead.length > 0) throw new Error(`these links lead nowhere:\n${dead.join('\n')}`);
}

const htmlFiles = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.html'))
    .map((path) => path.split(sep).join('/'));

const idsOf = (html: string): ReadonlySet<string> =>
  new Set([...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id!));

const linksOf = (html: string) =>
  [...html.matchAll(/<a\s[^>]*?href="([^"]+)"/g)]
    .map(([, link]) => link!)
    .filter((link) => !/^(https?|mailto):/.test(link));

function leads(
  folder: string,
  path: string,
  link: string,
  ids: ReadonlyMap<string, ReadonlySet<string>>,
): boolean {
  const [file = '', hash] = link.split('#');
  const target = targetOf(path, file);
  if (!ids.has(target)) return hash === undefined && existsSync(join(folder, target));
  return !hash || ids.get(target)!.has(decodeURIComponent(hash));
}

/** The file of an address: `/auth/` is `auth/index.html`, and `/auth/sign-in` may lack its extension. */
function targetOf(path: string, file: string): string {
  if (file === '') return path;
  const from = file.startsWith('/') ? file.slice(1) : posix.join(posix.dirname(path), file);
  if (from === '' || from.endsWith('/')) return `${from}index.html`;
  return /\.\w+$/.test(from) ? from : `${from}.html`;
}
