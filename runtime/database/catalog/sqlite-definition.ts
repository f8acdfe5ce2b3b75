import { columnOf, skipQuoted, splitDefinition } from '../tables/table-definition.ts';
import type { CatalogCheck } from './catalog.ts';

/** The parts of a table that SQLite only has in the text of its CREATE TABLE. */
export interface SqliteDefinition {
  readonly checks: readonly CatalogCheck[];
  /** The expressions of generated columns, by column. */
  readonly generated: ReadonlyMap<string, string>;
}

/** Reads the checks and the generated columns of a CREATE TABLE. */
export function readDefinition(statement: string): SqliteDefinition {
  const { columns, constraints } = splitDefinition(statement);
  const ofColumns = columns.flatMap((text) => {
    const name = columnOf(text);
    return clausesOf(text).map((clause) => ({ ...clause, columns: [name] }));
  });
  const ofTable = constraints.flatMap((text) =>
    clausesOf(text).map((clause) => ({ ...clause, columns: [] as string[] })),
  );
  return {
    checks: [...ofColumns, ...ofTable]
      .filter(({ word }) => word === 'check')
      .map(({ name, expression, columns: of }) => ({
        name,
        expression,
        columns: of,
        validated: true,
      })),
    generated: new Map(
      ofColumns
        .filter(({ word }) => word === 'as')
        .map(({ expression, columns: [name] }) => [name!, expression]),
    ),
  };
}

interface Clause {
  readonly word: string;
  /** The name that `constraint` gives it. */
  readonly name: string | null;
  /** The text in the parentheses after the keyword. */
  readonly expression: string;
}

/** The clauses `check (…)` and `as (…)` of one definition, in their order. */
function clausesOf(text: string): Clause[] {
  const clauses: Clause[] = [];
  let words: string[] = [];
  for (let at = 0; at < text.length;) {
    const word = /^[a-z_]\w*/i.exec(text.slice(at))?.[0];
    if (word !== undefined) {
      words.push(word);
      at += word.length;
    } else if (text[at] === '(') {
      const end = endOfParentheses(text, at);
      const last = words.at(-1)?.toLowerCase();
      if (last === 'check' || last === 'as')
        clauses.push({
          word: last,
          name: nameBefore(words),
          expression: text.slice(at + 1, end - 1).trim(),
        });
      words = [];
      at = end;
    } else {
      const next = skipQuoted(text, at);
      if (next > at + 1 && /^["`[]/.test(text[at]!)) words.push(columnOf(text.slice(at, next)));
      at = next;
    }
  }
  return clauses;
}

function nameBefore(words: readonly string[]): string | null {
  const [keyword, name] = words.slice(-3);
  return keyword?.toLowerCase() === 'constraint' ? (name ?? null) : null;
}

/** The index after the parenthesis that closes the one at `start`. */
function endOfParentheses(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at = skipQuoted(text, at)) {
    if (text[at] === '(') depth++;
    if (text[at] === ')' && --depth === 0) return at + 1;
  }
  return text.length;
}
