import { type Expression, NotUnderstood, readExpression } from './read/expression.ts';
import { readTokens } from './read/tokens.ts';

/** Types of the last run by their table, with their columns. */
export type LastModel = ReadonlyMap<
  string,
  { readonly type: string; readonly columns: ReadonlySet<string> }
>;

/**
 * Reads the tables and columns of the previous run from `src/generated/model.ts`. They show what
 * has gone only since then, and what a type was called; nothing is decided by them alone.
 *
 * @returns null when there was no run before, or its file cannot be read.
 */
export function readLastModel(text: string | null): LastModel | null {
  const entities = text === null ? null : entitiesOf(text);
  if (entities?.kind !== 'object') return null;
  return new Map(
    [...entities.members].flatMap(([type, entity]) => {
      const table = member(entity, 'table');
      const columns = member(entity, 'columns');
      return table?.kind === 'value' && columns?.kind === 'object'
        ? [[String(table.value), { type, columns: new Set(columns.members.keys()) }] as const]
        : [];
    }),
  );
}

function entitiesOf(text: string): Expression | null {
  const tokens = readTokens(text);
  const at = tokens.findIndex(
    (token, index) => token.text === 'entities' && tokens[index + 1]?.text === ':',
  );
  if (at < 0) return null;
  try {
    return readExpression({ tokens, at: at + 2, end: tokens.length });
  } catch (error) {
    if (error instanceof NotUnderstood) return null;
    throw error;
  }
}

function member(expression: Expression, name: string): Expression | undefined {
  return expression.kind === 'object' ? expression.members.get(name) : undefined;
}
