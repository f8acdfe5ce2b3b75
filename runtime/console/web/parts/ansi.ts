/**
 * A piece of a line with one style. `classes` are those of `log-view.css`; empty for plain text.
 */
export interface AnsiPart {
  readonly text: string;
  readonly classes: string;
}

interface Look {
  fore: string;
  back: string;
  readonly marks: Set<string>;
}

const NAMES = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const;
/** The beginning of a control sequence, as a part of a regular expression. */
const ESCAPE = String.raw`\x1b\[`;
/**
 * Select Graphic Rendition (ECMA-48 §8.3.117), and the other control sequences, which mean nothing
 * here.
 */
const SEQUENCE = new RegExp(`${ESCAPE}([0-9;:]*)([@-~])|${ESCAPE}[0-?]*[ -/]*[@-~]`, 'g');
const MARKS: Readonly<Record<number, string>> = { 1: 'bold', 2: 'faint', 3: 'italic', 4: 'under' };
/** The marks that a code ends. */
const ENDS: Readonly<Record<number, readonly string[]>> = {
  22: ['bold', 'faint'],
  23: ['italic'],
  24: ['under'],
};

/**
 * The text of a line by its colours. Sequences that move a cursor or clear a screen are left out;
 * everything else stays as it is, carriage returns too.
 *
 * @example ansiParts('\x1b[31mfailed\x1b[0m in 3 s') // [{ text: 'failed', classes: 'ansi-red' }, { text: ' in 3 s', classes: '' }]
 */
export function ansiParts(line: string): AnsiPart[] {
  if (!line.includes('\x1b[')) return [{ text: line, classes: '' }];
  const parts: AnsiPart[] = [];
  const look: Look = { fore: '', back: '', marks: new Set() };
  let from = 0;
  const push = (to: number) => {
    if (to > from) parts.push({ text: line.slice(from, to), classes: classesOf(look) });
  };
  for (const match of line.matchAll(SEQUENCE)) {
    push(match.index);
    from = match.index + match[0].length;
    if (match[2] === 'm') change(look, (match[1] ?? '').split(/[;:]/).map(Number));
  }
  push(line.length);
  return parts;
}

/** The text of the line that is searched: without its control sequences. */
export const withoutAnsi = (line: string): string =>
  line.includes('\x1b[') ? line.replaceAll(SEQUENCE, '') : line;

const classesOf = ({ fore, back, marks }: Look): string =>
  [fore && `ansi-${fore}`, back && `ansi-on-${back}`, ...[...marks].map((mark) => `ansi-${mark}`)]
    .filter(Boolean)
    .join(' ');

function change(look: Look, codes: number[]): void {
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? 0;
    if (code === 38 || code === 48) at = extended(look, codes, at);
    else changeOne(look, code);
  }
}

function changeOne(look: Look, code: number): void {
  // 39 and 49 have no name: they are the usual colours.
  const base = NAMES[code % 10] ?? '';
  if (code === 0) Object.assign(look, { fore: '', back: '' }).marks.clear();
  else if (MARKS[code]) look.marks.add(MARKS[code]);
  else if (ENDS[code]) ENDS[code].forEach((mark) => look.marks.delete(mark));
  else if (code < 30 || code % 10 === 8) return;
  else if (code < 40) look.fore = base;
  else if (code < 50 || (code >= 100 && code < 108)) look.back = base;
  else if (code >= 90 && code < 98) look.fore = base === 'black' ? 'grey' : base;
}

/** `38;5;N` is one of 256 colours, `38;2;R;G;B` any. Both become the nearest of the eight. */
function extended(look: Look, codes: readonly number[], at: number): number {
  const isIndexed = codes[at + 1] === 5;
  const name = isIndexed
    ? nameOfIndex(codes[at + 2] ?? 0)
    : nameOfRgb(codes[at + 2] ?? 0, codes[at + 3] ?? 0, codes[at + 4] ?? 0);
  if (codes[at] === 38) look.fore = name;
  else look.back = name === 'grey' ? 'black' : name;
  return at + (isIndexed ? 2 : 4);
}

function nameOfIndex(index: number): string {
  if (index < 16) return index === 8 ? 'grey' : (NAMES[index % 8] ?? '');
  if (index >= 232) return index < 238 ? 'black' : index < 248 ? 'grey' : 'white';
  const cube = index - 16;
  const level = (step: number) => (Math.floor(cube / step) % 6) * 51;
  return nameOfRgb(level(36), level(6), level(1));
}

function nameOfRgb(red: number, green: number, blue: number): string {
  const most = Math.max(red, green, blue);
  if (most - Math.min(red, green, blue) < 40)
    return most < 64 ? 'black' : most < 192 ? 'grey' : 'white';
  const bit = (value: number, weight: number) => (value > most * 0.6 ? weight : 0);
  return NAMES[bit(red, 1) + bit(green, 2) + bit(blue, 4)] ?? '';
}
