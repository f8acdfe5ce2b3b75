import type { DatabaseSync } from 'node:sqlite';
import type { ReadText } from '../bounds.ts';
import { HIGHLIGHT_FUNCTION } from './postgres-search.ts';
import { porterStem } from './porter.ts';
import { foldWord, wordsIn } from './words.ts';

/** Adds the function `twofold_search_highlight(text, marks, language)` to a connection. */
export function addHighlight(database: DatabaseSync, read: ReadText): void {
  database.function(HIGHLIGHT_FUNCTION, { deterministic: true }, (value, marks, language) => {
    if (value === null) return null;
    read(String(value).length);
    return highlight(String(value), String(marks), String(language));
  });
}

/** Characters of a highlight, with an ellipsis at each end. */
const SHOWN = 298;

/** Characters before the first hit. */
const BEFORE = 60;

/** Characters of a text that are looked at. */
const LOOKED_AT = 200_000;

interface Hit {
  readonly start: number;
  readonly end: number;
}

/**
 * The text around the words that were found, as HTML that may be inserted as it is: the text is
 * escaped, and the words are in `<mark>`. A text without any of them is shown from its beginning.
 *
 * @param marks JSON of `[word, begins]`, with words as `foldWord` makes them.
 * @example highlight('Fish & chips', '[["chips",false]]', 'simple') // 'Fish &amp; <mark>chips</mark>'
 */
function highlight(value: string, marks: string, language: string): string {
  const text = shortened(value);
  const isHit = matcher(JSON.parse(marks) as SearchedWord[], language);
  const places: Hit[] = [];
  let from = 0;
  let to = Math.min(text.length, SHOWN);
  for (const { 0: word, index } of wordsIn(text)) {
    if (places.length > 0 && index >= to) break;
    if (!isHit(foldWord(word))) continue;
    if (places.length === 0) [from, to] = windowAround(text, index);
    if (index < to) places.push({ start: index, end: Math.min(index + word.length, to) });
  }
  return [
    from > 0 ? '…' : '',
    marked(text, places, { start: from, end: to }),
    to < text.length || text.length < value.length ? '…' : '',
  ].join('');
}

function shortened(value: string): string {
  const text = value.length > LOOKED_AT ? value.slice(0, LOOKED_AT) : value;
  return text.normalize('NFC');
}

type SearchedWord = readonly [word: string, begins: boolean];

function matcher(marks: readonly SearchedWord[], language: string): (word: string) => boolean {
  const stem = language === 'english' ? porterStem : (word: string) => word;
  const whole = new Set(marks.filter(([, begins]) => !begins).map(([word]) => stem(word)));
  const begun = marks.filter(([, begins]) => begins).map(([word]) => stem(word));
  return (word) => {
    const stemmed = stem(word);
    return whole.has(stemmed) || begun.some((each) => stemmed.startsWith(each));
  };
}

/** The range that is shown. It begins and ends between words where that is possible. */
function windowAround(text: string, hit: number): [from: number, to: number] {
  let from = Math.max(0, hit - BEFORE);
  const gap = from > 0 ? text.slice(from, hit).search(SEPARATOR) : -1;
  if (gap >= 0) from += gap + 1;
  let to = Math.min(text.length, from + SHOWN);
  if (to < text.length && !SEPARATOR.test(text[to]!)) {
    const last = [...text.slice(hit, to)].findLastIndex((sign) => SEPARATOR.test(sign));
    if (last >= 0) to = hit + [...text.slice(hit, to)].slice(0, last).join('').length;
  }
  return [whole(text, from), whole(text, to)];
}

const SEPARATOR = /[^\p{L}\p{Nd}\p{M}]/u;

/** Moves a position that is between the two halves of a character. */
const whole = (text: string, at: number): number =>
  at < text.length && /[\uDC00-\uDFFF]/.test(text[at]!) ? at - 1 : at;

function marked(text: string, places: readonly Hit[], { start, end }: Hit): string {
  let html = '';
  let at = start;
  for (const hit of places) {
    html += `${escaped(text.slice(at, hit.start))}<mark>${escaped(text.slice(hit.start, hit.end))}</mark>`;
    at = hit.end;
  }
  return html + escaped(text.slice(at, end));
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (sign) => ESCAPES[sign]!);
