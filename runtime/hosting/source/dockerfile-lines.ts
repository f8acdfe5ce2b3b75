import { quote, refuse } from '../archives/refuse.ts';
import { heredocMarks } from './heredoc.ts';

/** One instruction. Continued lines are joined. */
export interface Instruction {
  readonly name: string;
  readonly flags: readonly string[];
  readonly rest: string;
  /** Its first line in the file, from 1. */
  readonly line: number;
  /** Its last line, with the text of its here-documents. */
  readonly end: number;
  /** Whether here-documents follow it. */
  readonly heredoc: boolean;
}

/** The frontend that Docker itself publishes: it reads newer Dockerfiles on older engines. */
const OFFICIAL =
  /^(?:docker\.io\/)?docker\/dockerfile(?::[\w.-]{1,128})?(?:@sha256:[0-9a-f]{64})?$/;

/**
 * Splits a Dockerfile into instructions. The text of here-documents belongs to its instruction, so
 * a builder that does not know them must not get the file.
 *
 * @throws AppError 422 for a custom frontend, and for a `<<` or an end of a line whose meaning is not
 * certain.
 */
export function parseDockerfile(text: string): Instruction[] {
  // Builders differ in whether such a character is a part of the line.
  if (/\r(?!\n)/.test(text)) throw refuse('The Dockerfile has a carriage return inside of a line');
  const lines = linesOf(text);
  const { escape } = readDirectives(lines);
  const instructions: Instruction[] = [];
  for (let at = 0; at < lines.length;) {
    const { open, next } = joinLines(lines, at, escape);
    const first = at;
    at = next;
    if (open.trim() === '') continue;
    const { name, flags, rest } = toInstruction(open);
    const marks = heredocMarks(name, open, rest);
    for (const mark of marks) at = endOfHeredoc(lines, at, mark);
    const line = first + leadingLines(lines, first) + 1;
    instructions.push({ name, flags, rest, line, end: at, heredoc: marks.length > 0 });
  }
  return instructions;
}

/** The reference of the frontend that a file asks for, or null. @throws AppError 422 */
export function frontendOf(text: string): string | null {
  return readDirectives(linesOf(text)).syntax;
}

const linesOf = (text: string) => text.replace(/^\uFEFF/, '').split(/\r?\n/);

const isComment = (line: string) => /^\s*#/.test(line);

function leadingLines(lines: readonly string[], from: number): number {
  let count = 0;
  while (isComment(lines[from + count] ?? '') || lines[from + count]?.trim() === '') count += 1;
  return count;
}

/**
 * Joins the lines of one instruction as builders do: with nothing between them, so that words may go
 * on in the next line. Comments between them are left out.
 */
function joinLines(lines: readonly string[], from: number, escape: string) {
  let open = '';
  for (let at = from; at < lines.length; at += 1) {
    const line = lines[at] as string;
    assertCertain(line, escape);
    if (isComment(line) || line.trim() === '') continue;
    const trimmed = line.trimEnd();
    const continues = trimmed.endsWith(escape);
    open += continues ? trimmed.slice(0, -1) : trimmed;
    if (!continues) return { open, next: at + 1 };
  }
  return { open, next: lines.length };
}

/**
 * Refuses a line of which builders differ in whether it goes on, or is a comment: what we take for
 * a part of an instruction could be another one that was not checked.
 */
function assertCertain(line: string, escape: string): void {
  const trimmed = line.trimEnd();
  if (/^\s*[\u0085\uFEFF]/.test(line))
    throw refuse(`A line with an unusual space at its beginning is not allowed: ${quote(trimmed)}`);
  if (isComment(line) || !trimmed.endsWith(escape)) return;
  if (trimmed.endsWith(escape + escape))
    throw refuse(`A line that ends with ${escape}${escape} is not allowed: ${quote(trimmed)}`);
  if (/[^ \t]/.test(line.slice(trimmed.length)))
    throw refuse(`A line with an unusual space at its end is not allowed: ${quote(trimmed)}`);
}

function endOfHeredoc(
  lines: readonly string[],
  from: number,
  { name, chomp }: { readonly name: string; readonly chomp: boolean },
): number {
  for (let at = from; at < lines.length; at += 1) {
    const line = lines[at] as string;
    if ((chomp ? line.replace(/^\t+/, '') : line) === name) return at + 1;
  }
  throw refuse(`The here-document ${name} has no end`);
}

/**
 * Reads the parser directives at the beginning. Every comment there that names a frontend counts,
 * because builders differ in which of these lines they take for a directive. A frontend is a
 * program that replaces the builder, so only Docker's own is taken.
 */
function readDirectives(lines: readonly string[]): {
  readonly escape: string;
  readonly syntax: string | null;
} {
  let escape = '\\';
  let syntax: string | null = null;
  let isDirective = true;
  for (const line of lines) {
    const comment = /^\s*(?:#|\/\/)([^]*)$/.exec(line)?.[1];
    if (comment === undefined && line.trim() !== '') break;
    const [, name = '', text = ''] = /^\s*([a-z][a-z0-9]*)\s*=([^]+)$/i.exec(comment ?? '') ?? [];
    const value = text.trim();
    if (name.toLowerCase() === 'syntax') syntax ??= assertFrontend(value);
    if (name === '' && !line.startsWith('#!')) isDirective = false;
    if (isDirective && name.toLowerCase() === 'escape') escape = value === '`' ? '`' : '\\';
  }
  return { escape, syntax };
}

function assertFrontend(value: string): string {
  if (OFFICIAL.test(value)) return value;
  throw refuse(
    `# syntax=${value.slice(0, 100)} is not allowed: only docker/dockerfile is, in any version`,
  );
}

const SYNTAX = /^\s*(?:#|\/\/)\s*syntax\s*=/i;

/**
 * The text without its own choice of a frontend, and with `frontend` instead. Lines keep their
 * numbers if there is none.
 */
export function withFrontend(text: string, frontend: string | null): string {
  const lines = text.replace(/^\uFEFF/, '').split('\n');
  const found = lines.findIndex((line) => !/^\s*(?:#|\/\/|\r?$)/.test(line));
  const first = found < 0 ? lines.length : found;
  const head = lines.slice(0, first).filter((line) => !SYNTAX.test(line));
  // A comment in its place would end the directives, of which others may follow.
  const filling = Array.from({ length: first - head.length }, () => '#');
  const kept = [...head, ...filling, ...lines.slice(first)].join('\n');
  return frontend === null ? kept : `# syntax=${frontend}\n${kept}`;
}

/** Reads one instruction whose lines are joined already, as those of `ONBUILD` are. */
export function toInstruction(text: string): Pick<Instruction, 'name' | 'flags' | 'rest'> {
  const [, name = '', tail = ''] = /^\s*(\S+)\s*([^]*)$/.exec(text) ?? [];
  const flags: string[] = [];
  let rest = tail;
  while (rest.startsWith('--')) {
    const { word, length } = firstWord(rest);
    rest = rest.slice(length).trimStart();
    if (word === '--') break;
    flags.push(word);
  }
  return { name: name.toUpperCase(), flags, rest: rest.trim() };
}

/** The first word as builders read flags: quotes hold spaces together and are dropped. */
function firstWord(text: string): { readonly word: string; readonly length: number } {
  let word = '';
  let quote = '';
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] as string;
    if (character === '\\') {
      at += 1;
      word += text[at] ?? '';
    } else if (character === quote) quote = '';
    else if (quote === '' && /["']/.test(character)) quote = character;
    else if (quote === '' && /\s/.test(character)) return { word, length: at };
    else word += character;
  }
  return { word, length: text.length };
}
