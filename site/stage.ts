import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root, stagedPages } from './folders.ts';
import { linkPage } from './links.ts';
import { type SitePage, writtenPages } from './pages.ts';
import { madePages } from './reference/index.ts';

/** Every page of the site: written ones, then those made from code. */
export function sitePages(): readonly SitePage[] {
  return [...writtenPages(), ...madePages()];
}

/**
 * Writes the pages where VitePress reads them.
 *
 * @throws Error that lists every link that leads nowhere.
 */
export function stage(pages: readonly SitePage[]): void {
  const addresses = new Map(pages.map(({ source, path }) => [source, path]));
  const titles = new Map(pages.map(({ path, title }) => [`/${path}`, title]));
  const linked = pages.map((page) => ({
    page,
    ...linkPage(page.source, page.text, addresses, titles),
  }));
  const dead = linked.flatMap((each) => each.dead);
  if (dead.length > 0)
    throw new Error(
      dead.map(({ source, target }) => `${source}: the link ${target} leads nowhere`).join('\n'),
    );
  rmSync(stagedPages, { recursive: true, force: true });
  cpSync(join(root, 'site/public'), join(stagedPages, 'public'), { recursive: true });
  for (const { page, text } of linked) write(join(stagedPages, `${page.path}.md`), text);
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
