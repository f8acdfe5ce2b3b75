import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { root, SOURCES } from './folders.ts';

/** A link that leads nowhere, with the page that has it. */
export interface DeadLink {
  readonly source: string;
  readonly target: string;
}

/** The text of a page with links of the site, and the links that lead nowhere. */
export interface LinkedText {
  readonly text: string;
  readonly dead: readonly DeadLink[];
}

/** A link, from the name of a file in its text on, if it has one. */
const LINK = /(\[[\w-]+\.md)?\]\(([^)\s]+)\)/g;
const FENCE = /^```[^]*?^```$/gm;

/**
 * Replaces relative links by addresses of the site. A link to a file that is no page leads to the
 * sources. Code is left as it is.
 *
 * @param source the page's path in the repository
 * @param addresses the address of each page by its path in the repository
 * @param titles the title of each page by its address: it takes the place of the name of a file
 */
export function linkPage(
  source: string,
  text: string,
  addresses: ReadonlyMap<string, string>,
  titles: ReadonlyMap<string, string> = new Map(),
): LinkedText {
  const dead: DeadLink[] = [];
  const change = (prose: string) =>
    prose.replaceAll(LINK, (whole, file: string | undefined, target: string) => {
      const linked = linkOf(source, target, addresses);
      if (linked === undefined) dead.push({ source, target });
      if (linked === undefined) return whole;
      const title = file && titles.get(linked.replace(/#.*$/, ''));
      return `${title ? `[${title}` : (file ?? '')}](${linked})`;
    });
  return { text: outsideCode(text, change), dead };
}

function linkOf(
  source: string,
  target: string,
  addresses: ReadonlyMap<string, string>,
): string | undefined {
  if (/^(https?:|mailto:|#|\/)/.test(target)) return target;
  const [file = '', hash] = target.split('#');
  const path = posix.join(posix.dirname(source), file);
  const end = hash === undefined ? '' : `#${hash}`;
  const page = addresses.get(path);
  if (page !== undefined) return `/${page}${end}`;
  return existsSync(join(root, path)) ? `${SOURCES}/${path}${end}` : undefined;
}

/** Applies a change to everything but fenced blocks. */
function outsideCode(text: string, change: (prose: string) => string): string {
  let result = '';
  let end = 0;
  for (const { 0: block, index } of text.matchAll(FENCE)) {
    result += change(text.slice(end, index)) + block;
    end = index + block.length;
  }
  return result + change(text.slice(end));
}
