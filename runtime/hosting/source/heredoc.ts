import { quote, refuse } from '../archives/refuse.ts';

/** Where the text of a here-document ends. `chomp`: leading tabs do not count. */
export interface HeredocMark {
  readonly name: string;
  readonly chomp: boolean;
}

/** A word that begins a here-document. Its name may be in quotes. */
const MARK = /^\d*<<(-?)(?:([\w.-]+)|"([\w.-]+)"|'([\w.-]+)')$/;
/** A word that a builder might take for one. */
const PERHAPS = /^\d*<<(?!<|-?$)/;

/**
 * The here-documents that an instruction begins, as the official frontend reads them: only `RUN`,
 * `COPY` and `ADD` have them, and not in the JSON form.
 *
 * @throws AppError 422 when it is not certain how a builder would read a `<<`: a text that we take
 * for an instruction and the builder does not, or the reverse, could get around the policy.
 * @example heredocMarks('RUN', 'RUN <<-EOF', '<<-EOF') // [{ name: 'EOF', chomp: true }]
 */
export function heredocMarks(name: string, line: string, rest: string): readonly HeredocMark[] {
  const first = name === 'ONBUILD' ? (/^\S+/.exec(rest)?.[0] ?? '').toUpperCase() : name;
  if (!['RUN', 'COPY', 'ADD'].includes(first) || !line.includes('<<') || isJson(rest)) return [];
  const marks = wordsOf(line).flatMap((word) => {
    if (!PERHAPS.test(word)) return [];
    const [, chomp = '', plain, double, single] = MARK.exec(word) ?? [];
    const mark = plain ?? double ?? single;
    if (mark === undefined)
      throw refuse(`${quote(word)} is not allowed: write <<NAME with letters and digits`);
    return [{ name: mark, chomp: chomp === '-' }];
  });
  if (marks.length > 0) assertPlain(name, line, rest);
  return marks;
}

/** A variable other than `${NAME}`, `${NAME:-word}` and `${NAME:+word}`. */
const ODD_VARIABLE = /\$\{(?![A-Za-z_]\w*(?::[-+][^{}$\s"'\\]*)?\})/;
const STRING = '"(?:[^"\\\\]|\\\\.)*"\\s*';
/** A complete JSON form at the beginning. */
const JSON_FIRST = new RegExp(`^\\[\\s*(?:${STRING}(?:,\\s*${STRING})*)?\\]`);

/**
 * Refuses what makes some builders read no here-document at all: a variable that they cannot
 * replace, and a JSON form with something behind it.
 */
function assertPlain(name: string, line: string, rest: string): void {
  if (ODD_VARIABLE.test(line))
    throw refuse(`${quote(line)} is not allowed: a variable of this form beside <<`);
  if (name === 'ONBUILD' ? /\s\[/.test(rest) : JSON_FIRST.test(rest))
    throw refuse(`${quote(line)} is not allowed: the JSON form beside <<`);
}

function isJson(rest: string): boolean {
  try {
    return Array.isArray(JSON.parse(rest));
  } catch {
    return false;
  }
}

/** Splits at spaces outside of quotes. Quotes and backslashes stay. @throws AppError 422 */
function wordsOf(line: string): string[] {
  const words = [''];
  let quoted = '';
  /** The variables before this position have no spaces. Each is read once, as there may be many. */
  let checked = 0;
  for (let at = 0; at < line.length; at += 1) {
    const character = line[at] as string;
    const word = words.length - 1;
    if (at >= checked && quoted !== "'" && line.startsWith('${', at)) {
      const end = line.indexOf('}', at);
      checked = end < 0 ? line.length : end;
      if (/[\s"'\\]/.test(line.slice(at, checked)))
        throw refuse(`${quote(line)} is not allowed: a variable with spaces beside <<`);
    }
    if (quoted === '' && /\s/.test(character)) words.push('');
    else words[word] += character;
    if (character === '\\' && quoted !== "'") words[word] += line[(at += 1)] ?? '';
    else if (character === quoted) quoted = '';
    else if (quoted === '' && /["']/.test(character)) quoted = character;
  }
  if (quoted !== '')
    throw refuse(`${quote(line)} is not allowed: a quote that does not end beside <<`);
  return words;
}
