import { GraphQLError, parse, Source } from 'graphql';
import { positionAt, type Diagnostic, type SourceText } from '../diagnostic.ts';
import { parsePieces, type KnownPieces, type Piece } from './pieces.ts';

/**
 * A recursive parser overflows the stack on deeply nested brackets; no real schema is nested this
 * deep.
 */
const DEEPEST = 100;
const MOST_ERRORS = 10;
const DEFINITION = /^(?:type|interface|union|enum|input|scalar|directive|extend|schema)\b/gm;
const BRACKETS_OUTSIDE_TEXT = /"""(?:\\"""|[^])*?"""|"(?:\\.|[^"\\\n])*"|#[^\n]*|[[({]|[\])}]/g;

/**
 * The definitions of one file. After a mistake parsing continues at the next definition, so that
 * one run shows all mistakes.
 *
 * @example
 * parseFile({ file: 'schema.graphql', text: 'scalar Money' }).pieces[0]?.definitions.length // 1
 */
export function parseFile(source: SourceText, unused: KnownPieces = new Map()): ParsedFile {
  const deep = tooDeepAt(source.text);
  if (deep !== null) return { source, pieces: [], diagnostics: [tooDeep(source, deep)] };
  try {
    return { source, pieces: parsePieces(source.text, unused), diagnostics: [] };
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    return { source, pieces: [], diagnostics: findMistakes(source) };
  }
}

/** One file and its definitions. */
export interface ParsedFile {
  readonly source: SourceText;
  readonly pieces: readonly Piece[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Parses the whole text, then again from the definition after the first mistake, and so on. */
function findMistakes(source: SourceText): Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  let start = 0;
  while (start >= 0 && diagnostics.length < MOST_ERRORS) {
    try {
      parse(
        new Source(source.text.slice(0, start).replace(/[^\n]/g, ' ') + source.text.slice(start)),
        { noLocation: true },
      );
      return diagnostics;
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error;
      const offset = error.positions?.[0] ?? source.text.length;
      diagnostics.push(syntaxError(source, offset, error.message));
      start = /Unterminated|block string/i.test(error.message)
        ? -1
        : resumeAfter(source.text, offset, start);
    }
  }
  return diagnostics;
}

/**
 * The next definition: the one on the line of the mistake if the only mistake is a missing closing
 * brace of the definition above.
 */
function resumeAfter(text: string, offset: number, start: number): number {
  const line = lineStart(text, offset);
  DEFINITION.lastIndex =
    line > start && isUnclosed(text, offset) ? line : Math.max(offset, start) + 1;
  return DEFINITION.exec(text)?.index ?? -1;
}

/** `type B` where a field was expected: `type` was read as the field's name. */
function isUnclosed(text: string, offset: number): boolean {
  return /^(?:type|interface|union|enum|input|scalar|directive|extend|schema)\s+$/.test(
    text.slice(lineStart(text, offset), offset),
  );
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1;
}

function syntaxError(source: SourceText, offset: number, message: string): Diagnostic {
  const summary = message.replace(/^Syntax Error: /, '').replace(/, did you mean.*|\.$/, '');
  const word = /^[\w$]+/.exec(source.text.slice(offset))?.[0].length ?? 1;
  const fix = syntaxFix(source.text, offset, summary);
  return {
    code: 'SDL_SYNTAX',
    severity: 'error',
    summary,
    fix,
    at: positionAt(source, offset, word),
  };
}

function syntaxFix(text: string, offset: number, summary: string): string {
  if (/Expected ":"/.test(summary) && isUnclosed(text, offset))
    return 'close the definition above with }';
  if (/found <EOF>/.test(summary)) return 'a } is missing at the end';
  if (/Expected Name, found "}"/.test(summary)) return 'write at least one field between { and }';
  if (/single quote/.test(summary)) return 'GraphQL writes strings in double quotes';
  if (/Expected ":"/.test(summary)) return 'a field is written name: Type';
  return 'the mistake is here or just before';
}

function tooDeepAt(text: string): number | null {
  let depth = 0;
  for (const match of text.matchAll(BRACKETS_OUTSIDE_TEXT)) {
    if ('[({'.includes(match[0])) depth++;
    else if ('])}'.includes(match[0])) depth--;
    if (depth > DEEPEST) return match.index;
  }
  return null;
}

function tooDeep(source: SourceText, offset: number): Diagnostic {
  return {
    code: 'SDL_SYNTAX',
    severity: 'error',
    summary: `More than ${DEEPEST} brackets are open at once`,
    fix: 'close the brackets before this one',
    at: positionAt(source, offset),
  };
}
