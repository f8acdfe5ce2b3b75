/**
 * The characters of words, for texts and for searches: letters, digits and the marks on them. Signs
 * that only change the look of an emoji do not count.
 */
const MARKS = String.raw`(?![\u{FE00}-\u{FE0F}\u{20D0}-\u{20FF}])\p{M}`;
const WORD = new RegExp(String.raw`[\p{L}\p{Nd}](?:[\p{L}\p{Nd}]|${MARKS})*`, 'gu');

/** The words of a text with their places. */
export const wordsIn = (text: string): RegExpStringIterator<RegExpExecArray> => text.matchAll(WORD);

/** Accents that are marks of their own. */
const ACCENTS = /[\u0300-\u036f]+/gu;

/** Letters that are variants of another small letter. lower() does not replace them. */
export const VARIANTS: readonly (readonly [from: string, to: string])[] = [
  ['µ', 'μ'],
  ['ς', 'σ'],
  ['ſ', 's'],
  ['ϐ', 'β'],
  ['ϑ', 'θ'],
  ['ϕ', 'φ'],
  ['ϖ', 'π'],
  ['ϰ', 'κ'],
  ['ϱ', 'ρ'],
  ['ϵ', 'ε'],
];

const VARIANT: ReadonlyMap<string, string> = new Map(VARIANTS);

/**
 * A word in the form that is compared: without letter case and accents.
 *
 * @example foldWord('Élan') // 'elan'
 */
export function foldWord(word: string): string {
  const small = word.normalize('NFD').replace(ACCENTS, '').normalize('NFC').toLowerCase();
  return small.replace(/[µςſϐϑϕϖϰϱϵ]/gu, (letter) => VARIANT.get(letter) ?? letter);
}

/**
 * Letters with accents that FTS5 does not remove, because its table has Latin letters only. Each
 * comes with the letter without accents.
 */
export function accentedLetters(): readonly (readonly [letter: string, base: string])[] {
  const pairs: (readonly [string, string])[] = [];
  for (const [first, last] of ACCENTED)
    for (let code = first; code <= last; code += 1) {
      const letter = String.fromCodePoint(code);
      const base = letter.normalize('NFD').replace(ACCENTS, '').normalize('NFC');
      if (base !== letter && base.length === 1) pairs.push([letter, base]);
    }
  return pairs;
}

/** The ranges of these letters, as a character class of GLOB. */
export const accentedBlocks = (): string =>
  ACCENTED.map((block) => block.map((code) => String.fromCodePoint(code)).join('-')).join('');

/** The ranges: a few Latin letters, Greek and Cyrillic, ancient Greek. */
const ACCENTED = [
  [0x1e0, 0x1ff],
  [0x386, 0x4f9],
  [0x1f00, 0x1ffc],
] as const;

/** Characters that FTS5 takes for letters, because its Unicode tables are of 2012. */
export function newSigns(): string {
  let signs = '';
  for (const [first, last] of SIGNS)
    for (let code = first; code <= last; code += 1) {
      const sign = String.fromCodePoint(code);
      if (/[^\p{L}\p{Nd}\p{Cn}\p{M}]|[\u{FE00}-\u{FE0F}\u{20D0}-\u{20FF}]/u.test(sign))
        signs += sign;
    }
  return signs;
}

/** Isolates of writing directions, marks and symbols, and the blocks of emoji. */
const SIGNS = [
  [0x2066, 0x2069],
  [0x20ba, 0x20ff],
  [0x23f4, 0x23ff],
  [0x2b4d, 0x2bff],
  [0xfe00, 0xfe0f],
  [0x1f300, 0x1f6ff],
  [0x1f900, 0x1faff],
] as const;

/** The characters of words as the ranges of a bracket expression, in the notation of PostgreSQL. */
export function wordRanges(): string {
  const isPart = (code: number) =>
    !(code >= 0xd800 && code <= 0xdfff) &&
    /^(?:[\p{L}\p{Nd}]|(?![\u{FE00}-\u{FE0F}\u{20D0}-\u{20FF}])\p{M})$/u.test(
      String.fromCodePoint(code),
    );
  let ranges = '';
  for (let code = 0; code <= LAST_LETTER; code += 1) {
    if (!isPart(code)) continue;
    const first = code;
    while (code < LAST_LETTER && isPart(code + 1)) code += 1;
    ranges += first === code ? escaped(code) : `${escaped(first)}-${escaped(code)}`;
  }
  return ranges;
}

const LAST_LETTER = 0x323af;

const escaped = (code: number): string =>
  code < 0x80 ? String.fromCharCode(code) : `\\U${code.toString(16).padStart(8, '0')}`;
