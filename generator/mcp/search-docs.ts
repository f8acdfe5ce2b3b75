import { last } from '@twofold/schema';
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

/** Finds sections of the documentation by words or a question, the best first. */
export async function searchDocs(query: string): Promise<{ sections: readonly DocsSection[] }> {
  const asked = wordsOf(query.slice(0, 200)).slice(0, 24);
  const words = [...new Set(asked.flatMap((word) => [word, MEANT[word] ?? []].flat()))];
  const sections = (await readSections()).map(countWords);
  const rarity = new Map(words.map((word) => [word, rarityOf(word, sections)]));
  const scored = sections
    .map((counted) => ({ ...counted, score: scoreOf(counted, rarity) }))
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
    else last(sections).text += `${line}\n`;
  }
  return sections;
}

interface CountedSection {
  readonly section: DocsSection;
  readonly titles: ReadonlySet<string>;
  readonly said: ReadonlyMap<string, number>;
  readonly length: number;
}

function countWords(section: DocsSection): CountedSection {
  const words = wordsOf(section.text);
  const said = new Map<string, number>();
  for (const word of words) said.set(word, (said.get(word) ?? 0) + 1);
  const titles = new Set(wordsOf(`${section.heading} ${section.page}`));
  return { section, titles, said, length: words.length };
}

/** How much a word tells: those of a question that stand everywhere tell nothing. */
function rarityOf(word: string, sections: readonly CountedSection[]): number {
  const having = sections.filter(({ said, titles }) => said.has(word) || titles.has(word)).length;
  return having === 0 ? 0 : Math.log(sections.length / having);
}

/** The number of words at which a section is neither short nor long. */
const USUAL_LENGTH = 150;

/** BM25, with a word in the heading or the path as two. */
function scoreOf({ titles, said, length }: CountedSection, rarity: ReadonlyMap<string, number>) {
  let score = 0;
  for (const [word, weight] of rarity) {
    const times = said.get(word) ?? 0;
    const often = (2.2 * times) / (times + 0.6 + (0.6 * length) / USUAL_LENGTH);
    score += weight * (often + (titles.has(word) ? 2 : 0));
  }
  return score;
}

/** Words by which a question means others of these pages. */
const MEANT: Readonly<Record<string, string>> = {
  admin: 'role',
  authoriz: 'access',
  night: 'schedul',
  paginat: 'page',
  permission: 'access',
  protect: 'access',
  restrict: 'access',
  delet: 'remov',
  cor: 'origin',
  email: 'mail',
};

const ASKING = new Set(
  'a an and can do does for how i in is it my of or the to what when with'.split(' '),
);

/**
 * The words of a text without their endings, as `renam` for `renaming` and `renames`, and the parts
 * of a name such as NOT_INFERRED beside the whole one.
 */
function wordsOf(text: string): string[] {
  const plain = text.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  return (plain.match(/[\p{L}\p{N}_]+/gu) ?? []).flatMap((name) => {
    const parts = name.split('_').filter((part) => part !== '' && !ASKING.has(part));
    const words = parts.map((word) =>
      word.length > 3 ? word.replace(/(ations?|ings?|ions?|ed|es|e|s)$/, '') : word,
    );
    return [...words, ...(name.includes('_') ? [name] : [])];
  });
}
