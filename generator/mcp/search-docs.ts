import { readFile } from 'node:fs/promises';

/**
 * The folder of the package, which has the pages of documentation at the paths of the repository.
 */
const HOME = new URL('../../', import.meta.url);

/** A section of a page that was found. */
export interface DocsSection {
  /** The path of the page in the package. */
  readonly page: string;
  readonly heading: string;
  readonly text: string;
}

const MOST_SECTIONS = 6;

/** Finds sections of the documentation by words, the best first. */
export async function searchDocs(query: string): Promise<{ sections: readonly DocsSection[] }> {
  const words = [...new Set(wordsOf(query.slice(0, 200)))].slice(0, 12);
  const scored = (await readSections())
    .map((section) => ({ section, score: scoreOf(section, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score);
  return { sections: scored.slice(0, MOST_SECTIONS).map(({ section }) => section) };
}

async function readSections(): Promise<DocsSection[]> {
  const index = await readFile(new URL('llms.txt', HOME), 'utf8');
  const pages = [...index.matchAll(/\]\(([^)]+\.md)\)/g)].map(([, path]) => path!);
  const sections = await Promise.all(
    pages.map(async (page) => sectionsOf(page, await readFile(new URL(page, HOME), 'utf8'))),
  );
  return sections.flat();
}

/** A page as sections, each with the heading above it. A `#` inside a fence is no heading. */
function sectionsOf(page: string, text: string): DocsSection[] {
  const sections: { page: string; heading: string; text: string }[] = [];
  let fenced = false;
  for (const line of text.split('\n')) {
    if (line.startsWith('```')) fenced = !fenced;
    const heading = fenced ? undefined : /^#{1,3} (.+)/.exec(line)?.[1];
    if (heading !== undefined || sections.length === 0)
      sections.push({ page, heading: heading ?? page, text: '' });
    else sections.at(-1)!.text += `${line}\n`;
  }
  return sections;
}

/** A word in the heading or the path counts as six in the text. */
function scoreOf({ page, heading, text }: DocsSection, words: readonly string[]): number {
  const titles = new Set(wordsOf(`${heading} ${page}`));
  const said = new Set(wordsOf(text));
  return words.reduce(
    (sum, word) => sum + (titles.has(word) ? 6 : 0) + (said.has(word) ? 1 : 0),
    0,
  );
}

const wordsOf = (text: string): string[] =>
  (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).map((word) =>
    word.length > 3 ? word.replace(/s$/, '') : word,
  );
