/**
 * The stem of an English word: "An algorithm for suffix stripping", M.F. Porter, 1980. FTS5 and
 * PostgreSQL's dictionary `porter` stem the words of texts; this one marks the hits in them on
 * SQLite. Words with other letters than a to z are left as they are, as FTS5 leaves them.
 *
 * @example porterStem('relational') // 'relat'
 */
export function porterStem(word: string): string {
  if (word.length < 3 || word.length > 64 || !/^[a-z]+$/.test(word)) return word;
  return [plurals, pastForms, endingY, longSuffixes, mediumSuffixes, shortSuffixes, tidied].reduce(
    (stem, step) => step(stem),
    word,
  );
}

/** The measure of Porter's algorithm: how often a vowel is followed by a consonant. */
function measure(stem: string): number {
  return forms(stem).match(/v+c+/g)?.length ?? 0;
}

/** `c` or `v` for each letter; y is a vowel after a consonant. */
function forms(stem: string): string {
  let kinds = '';
  for (const letter of stem)
    kinds += 'aeiou'.includes(letter) || (letter === 'y' && kinds.endsWith('c')) ? 'v' : 'c';
  return kinds;
}

const endsDouble = (stem: string): boolean => /([^aeiou])\1$/.test(stem);

/** Consonant, vowel, consonant, and the last is not w, x or y: `hop`. */
const endsShort = (stem: string): boolean => forms(stem).endsWith('cvc') && !/[wxy]$/.test(stem);

function plurals(word: string): string {
  if (word.endsWith('sses') || word.endsWith('ies')) return word.slice(0, -2);
  return word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;
}

function pastForms(word: string): string {
  if (word.endsWith('eed')) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word;
  const ending = /(?:ed|ing)$/.exec(word)?.[0];
  const stem = ending === undefined ? '' : word.slice(0, -ending.length);
  if (ending === undefined || !hasVowel(stem)) return word;
  if (/(?:at|bl|iz)$/.test(stem)) return `${stem}e`;
  if (endsDouble(stem) && !/[lsz]$/.test(stem)) return stem.slice(0, -1);
  return measure(stem) === 1 && endsShort(stem) ? `${stem}e` : stem;
}

const hasVowel = (stem: string): boolean => forms(stem).includes('v');

const endingY = (word: string): string =>
  word.endsWith('y') && hasVowel(word.slice(0, -1)) ? `${word.slice(0, -1)}i` : word;

const LONG: readonly (readonly [suffix: string, by: string])[] = [
  ['ational', 'ate'],
  ['tional', 'tion'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['izer', 'ize'],
  ['logi', 'log'],
  ['bli', 'ble'],
  ['alli', 'al'],
  ['entli', 'ent'],
  ['eli', 'e'],
  ['ousli', 'ous'],
  ['ization', 'ize'],
  ['ation', 'ate'],
  ['ator', 'ate'],
  ['alism', 'al'],
  ['iveness', 'ive'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['aliti', 'al'],
  ['iviti', 'ive'],
  ['biliti', 'ble'],
];

const MEDIUM: readonly (readonly [suffix: string, by: string])[] = [
  ['icate', 'ic'],
  ['ative', ''],
  ['alize', 'al'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ful', ''],
  ['ness', ''],
];

const SHORT: readonly string[] = [
  'al',
  'ance',
  'ence',
  'er',
  'ic',
  'able',
  'ible',
  'ant',
  'ement',
  'ment',
  'ent',
  'ou',
  'ism',
  'ate',
  'iti',
  'ous',
  'ive',
  'ize',
];

const longSuffixes = (word: string): string => replaced(word, LONG);
const mediumSuffixes = (word: string): string => replaced(word, MEDIUM);

/** Replaces the longest suffix of the table, where something is left before it. */
function replaced(word: string, table: readonly (readonly [suffix: string, by: string])[]): string {
  const [suffix, by] = longest(table, ([each]) => word.endsWith(each)) ?? ['', ''];
  const stem = word.slice(0, word.length - suffix.length);
  return suffix !== '' && measure(stem) > 0 ? stem + by : word;
}

const longest = <T extends readonly [string, string]>(
  table: readonly T[],
  fits: (row: T) => boolean,
): T | undefined => table.filter(fits).toSorted(([a], [b]) => b.length - a.length)[0];

function shortSuffixes(word: string): string {
  const suffix = SHORT.filter((each) => word.endsWith(each)).toSorted(
    (a, b) => b.length - a.length,
  )[0];
  if (suffix === undefined) {
    const stem = word.slice(0, -3);
    return /[st]ion$/.test(word) && measure(stem) > 1 ? stem : word;
  }
  const stem = word.slice(0, -suffix.length);
  return measure(stem) > 1 ? stem : word;
}

/** Takes off a last `e`, and one of two `l`. */
function tidied(word: string): string {
  const stem = word.slice(0, -1);
  const short =
    word.endsWith('e') && (measure(stem) > 1 || (measure(stem) === 1 && !endsShort(stem)));
  const left = short ? stem : word;
  return left.endsWith('ll') && measure(left.slice(0, -1)) > 1 ? left.slice(0, -1) : left;
}
