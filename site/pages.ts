import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './folders.ts';
import { SECTIONS, type Section } from './sections.ts';

/** A page of the site. */
export interface SitePage {
  /** Its source, relative to the repository; for a page made from code, what makes it. */
  readonly source: string;
  /** Its place on the site, without an extension: `auth/sign-in`. */
  readonly path: string;
  readonly title: string;
  readonly text: string;
  readonly section: Section;
}

/**
 * The pages that stand beside the code and in `site/pages`, in the order of the navigation.
 *
 * @throws Error when two pages have the same address.
 */
export function writtenPages(): SitePage[] {
  const pages = SECTIONS.flatMap(pagesOf);
  const twice = pages.find(({ path }, at) => pages.findIndex((page) => page.path === path) < at);
  if (twice) throw new Error(`two pages have the address ${twice.path}, one is ${twice.source}`);
  return pages;
}

function pagesOf(section: Section): SitePage[] {
  const folder = join(root, section.folder);
  if (!existsSync(folder)) return [];
  const pages = readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => readPage(section, name));
  return pages.sort((a, b) => rank(a) - rank(b) || a.title.localeCompare(b.title, 'en'));
}

function rank({ path, section: { first = [] } }: SitePage): number {
  const at = first.indexOf(path.split('/').at(-1)!);
  return at < 0 ? first.length : at;
}

function readPage(section: Section, name: string): SitePage {
  const source = `${section.folder}/${name}`;
  const text = readFileSync(join(root, source), 'utf8');
  const path = [section.path, name.replace(/\.md$/, '')].filter(Boolean).join('/');
  return { source, path, title: titleOf(text) ?? path, text, section };
}

/** The text of the first heading, without marks. */
export function titleOf(text: string): string | undefined {
  return /^# (.+)$/m.exec(text)?.[1]?.replaceAll(/[`*]/g, '').trim();
}
