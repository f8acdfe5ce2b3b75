import { foldWord, wordsIn } from '../../store/search/words.ts';

/** Words that follow each other directly. Most terms have a single word. */
export interface SearchTerm {
  /** Without case and accents. */
  readonly words: readonly string[];
  /** Whether the last word may be only the beginning of a word: `begin*`. */
  readonly begins: boolean;
}

/** A parsed search. */
export interface SearchQuery {
  /** A row must have at least one term of each group. */
  readonly groups: readonly (readonly SearchTerm[])[];
  /** A row must have none of these terms. */
  readonly without: readonly SearchTerm[];
}

/**
 * Reads a search. A row must have all words. `"a phrase"`, `-without`, `this or that` and `begin*`
 * have a meaning; everything else is text, so that no input is wrong.
 *
 * @returns null for a text without a word.
 * @example parseSearch('cats -dogs') // { groups: [[{ words: ['cats'], begins: false }]], without: [{ words: ['dogs'], begins: false }] }
 */
export function parseSearch(text: string): SearchQuery | null {
  const reading: Draft = { groups: [], without: [], either: false, open: false };
  for (const part of partsOf(text)) take(reading, part);
  // An "or" at the end joins nothing, so it is searched as a word.
  if (reading.either) reading.groups.push([OR]);
  const { groups, without } = reading;
  return groups.length + without.length === 0 ? null : { groups: distinct(groups), without };
}

interface Draft {
  readonly groups: SearchTerm[][];
  readonly without: SearchTerm[];
  /** Whether an "or" was read, and the term after it is still missing. */
  either: boolean;
  /** Whether the last thing read was a term, so that an "or" may follow. */
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

/** An "or" before a word with a minus joins nothing, so it is searched as a word. */
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

/**
 * A phrase in quotes, or the characters between two spaces. A minus before it excludes rows with
 * these words.
 */
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

/** Words that are joined without a space, such as `well-known`, become one term each. */
function termsOf(text: string): SearchTerm[] {
  const words = folded(text);
  return words.map((word, at) => ({
    words: [word],
    begins: at === words.length - 1 && beginsWord(text),
  }));
}

/**
 * The most words of one phrase. A longer phrase is searched in parts, and each part begins with the
 * last word of the part before.
 */
const PHRASE = 32;

function phrasesOf(text: string): SearchTerm[] {
  const words = folded(text);
  const parts: SearchTerm[] = [];
  for (let at = 0; at === 0 ? words.length > 0 : at < words.length - 1; at += PHRASE - 1)
    parts.push({ words: words.slice(at, at + PHRASE), begins: false });
  return parts;
}

/** The words as one phrase. It is used for words in quotes, and for joined words after a minus. */
function termOf(text: string, open: boolean): SearchTerm | undefined {
  const words = folded(text);
  return words.length === 0 ? undefined : { words, begins: open && beginsWord(text) };
}

/** Whether a text ends with a star right after a letter. */
const beginsWord = (text: string): boolean => /[\p{L}\p{Nd}\p{M}]\*+$/u.test(text);

/** Drops repeated groups: a row has to have the word only once. */
function distinct(groups: readonly (readonly SearchTerm[])[]): (readonly SearchTerm[])[] {
  const seen = new Set<string>();
  return groups.filter((group) => {
    const key = JSON.stringify(group);
    return !seen.has(key) && seen.add(key);
  });
}
