import { foldWord, wordsIn } from '../store/search/words.ts';

/** Words that stand one behind the other; a single word is the usual case. */
export interface SearchTerm {
  /** Without case and accents. */
  readonly words: readonly string[];
  /** Whether the last word only begins so. */
  readonly begins: boolean;
}

/** What a text searches for. */
export interface SearchQuery {
  /** One term of each group must be there. */
  readonly groups: readonly (readonly SearchTerm[])[];
  /** None of these may be there. */
  readonly without: readonly SearchTerm[];
}

/**
 * Reads a search. All words must be there; `"a phrase"`, `-without`, `this or that`, `begin*`.
 * Everything else is text, so that no input is wrong.
 *
 * @returns null for a text without a word.
 * @example parseSearch('cats -dogs') // { groups: [[{ words: ['cats'], begins: false }]], without: [{ words: ['dogs'], begins: false }] }
 */
export function parseSearch(text: string): SearchQuery | null {
  const reading: Draft = { groups: [], without: [], either: false, open: false };
  for (const part of partsOf(text)) take(reading, part);
  // Nothing follows the last "or": it is a word.
  if (reading.either) reading.groups.push([OR]);
  const { groups, without } = reading;
  return groups.length + without.length === 0 ? null : { groups: distinct(groups), without };
}

interface Draft {
  readonly groups: SearchTerm[][];
  readonly without: SearchTerm[];
  /** Whether an "or" waits for the term behind it. */
  either: boolean;
  /** Whether a term stands before, which an "or" can follow. */
  open: boolean;
}

const OR: SearchTerm = { words: ['or'], begins: false };

function take(draft: Draft, { sign, quoted, bare = '' }: Part): void {
  if (sign) return avoid(draft, termOf(quoted ?? bare, quoted === undefined));
  if (draft.open && !draft.either && /^or$/i.test(bare)) {
    draft.either = true;
    return;
  }
  const terms = quoted === undefined ? termsOf(bare) : phrasesOf(quoted);
  for (const [at, term] of terms.entries())
    if (draft.either && at === 0) draft.groups.at(-1)!.push(term);
    else draft.groups.push([term]);
  if (terms.length === 0) return;
  draft.either = false;
  draft.open = true;
}

/** An "or" before a word to avoid is a word itself. */
function avoid(draft: Draft, term: SearchTerm | undefined): void {
  if (draft.either) draft.groups.push([OR]);
  if (term) draft.without.push(term);
  draft.either = false;
  draft.open = false;
}

interface Part {
  readonly sign: boolean;
  readonly quoted?: string;
  readonly bare?: string;
}

/** A phrase in quotes, or what stands between spaces; a minus before a word takes rows away. */
const PART = /(?<sign>(?<![^\s])-(?=["\p{L}\p{Nd}]))?(?:"(?<quoted>[^"]*)"|(?<bare>[^\s"]+|"))/gu;

function* partsOf(text: string): Generator<Part> {
  for (const { groups = {} } of text.matchAll(PART)) {
    const { sign, quoted, bare } = groups;
    yield {
      sign: sign !== undefined && hasWord(quoted ?? bare ?? ''),
      ...(quoted === undefined ? { bare: bare ?? '' } : { quoted }),
    };
  }
}

const hasWord = (text: string): boolean => wordsIn(text).next().done !== true;

const folded = (text: string): string[] =>
  [...wordsIn(text)].map(([word]) => foldWord(word)).filter((word) => word !== '');

/** Several words without a space between them, such as `well-known`, are words of their own. */
function termsOf(text: string): SearchTerm[] {
  const words = folded(text);
  return words.map((word, at) => ({
    words: [word],
    begins: at === words.length - 1 && beginsWord(text),
  }));
}

/** Words of one phrase: a longer one is looked for in parts, each of which begins with a known word. */
const PHRASE = 32;

function phrasesOf(text: string): SearchTerm[] {
  const words = folded(text);
  const parts: SearchTerm[] = [];
  for (let at = 0; at === 0 ? words.length > 0 : at < words.length - 1; at += PHRASE - 1)
    parts.push({ words: words.slice(at, at + PHRASE), begins: false });
  return parts;
}

/** They are a phrase where they are quoted, or taken away together. */
function termOf(text: string, open: boolean): SearchTerm | undefined {
  const words = folded(text);
  return words.length === 0 ? undefined : { words, begins: open && beginsWord(text) };
}

/** A star right behind the last letter. */
const beginsWord = (text: string): boolean => /[\p{L}\p{Nd}\p{M}]\*+$/u.test(text);

/** A word that stands twice in a search has to be in the row once. */
function distinct(groups: readonly (readonly SearchTerm[])[]): (readonly SearchTerm[])[] {
  const seen = new Set<string>();
  return groups.filter((group) => {
    const key = JSON.stringify(group);
    return !seen.has(key) && seen.add(key);
  });
}
