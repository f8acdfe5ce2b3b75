import { InternalError } from '@twofold/runtime/errors';
import { quotedName } from '@twofold/runtime/store';

/** The parsed text of a CREATE TABLE. */
export interface TableDefinition {
  /** One definition for each column, as written: `"title" text not null`. */
  readonly columns: readonly string[];
  readonly constraints: readonly string[];
  /** The text after the closing parenthesis: `strict`, `without rowid`. */
  readonly options: string;
}

/**
 * Parses the CREATE TABLE that SQLite keeps for a table, so that one definition can be replaced and
 * the others stay exactly as written, including checks and collations.
 */
export function splitDefinition(statement: string): TableDefinition {
  const start = firstParenthesis(statement);
  const parts: string[] = [];
  let [depth, from] = [0, start + 1];
  for (let at = start; at < statement.length; at = skipQuoted(statement, at)) {
    const character = statement[at];
    if (character === '(') depth++;
    if (character === ',' && depth === 1) {
      parts.push(statement.slice(from, at).trim());
      from = at + 1;
    }
    if (character !== ')' || --depth > 0) continue;
    parts.push(statement.slice(from, at).trim());
    return {
      columns: parts.filter((part) => !isConstraint(part)),
      constraints: parts.filter(isConstraint),
      options: statement.slice(at + 1).trim(),
    };
  }
  throw new InternalError('a table definition does not end');
}

/** The parenthesis that opens the list of columns: a name may have one, in quotes. */
function firstParenthesis(statement: string): number {
  let at = 0;
  while (at < statement.length && statement[at] !== '(') at = skipQuoted(statement, at);
  return at;
}

/** The statement that makes a table of this definition. */
export function joinDefinition(
  name: string,
  { columns, constraints, options }: TableDefinition,
): string {
  return `create table ${quotedName(name)} (${[...columns, ...constraints].join(', ')})${options === '' ? '' : ` ${options}`}`;
}

/** The name in front of a column's definition. */
export function columnOf(definition: string): string {
  const [, quoted, bracketed, plain] =
    /^(?:["`]((?:[^"`]|""|``)*)["`]|\[([^\]]*)\]|([^\s(]+))/.exec(definition) ?? [];
  return quoted?.replaceAll('""', '"').replaceAll('``', '`') ?? bracketed ?? plain ?? '';
}

function isConstraint(part: string): boolean {
  return /^(constraint|primary\s+key|unique|check|foreign\s+key)\b/i.test(part);
}

const CLOSING: Readonly<Record<string, string>> = { '"': '"', "'": "'", '`': '`', '[': ']' };

/** The next index to read: after a quoted text or comment that starts here, else `at + 1`. */
export function skipQuoted(text: string, at: number): number {
  if (text.startsWith('--', at)) return endOr(text.indexOf('\n', at), text);
  if (text.startsWith('/*', at)) return endOr(text.indexOf('*/', at) + 1, text);
  const closing = CLOSING[text[at]!];
  return closing === undefined ? at + 1 : endOr(text.indexOf(closing, at + 1), text);
}

/** A doubled quote ends one quoted text and starts another, which has the same result. */
function endOr(found: number, text: string): number {
  return found <= 0 ? text.length : found + 1;
}
