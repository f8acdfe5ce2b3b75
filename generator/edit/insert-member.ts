import type { ts as TypeScript } from 'ts-morph';
import { importPieces, isTaken, type NeededImport } from './insert-import.ts';
import { lineEndOf, type InsertedText, withPieces } from './pieces.ts';

/** The new text, or the reason why the text was not changed. */
export type Insertion = { readonly text: string } | { readonly refused: string };

/**
 * Adds a member at the end of `export const resolvers = { … }`, and its imports. The syntax tree
 * only gives the positions: the result is the old text with pieces inserted, which is checked
 * before it is returned.
 *
 * @param member its lines without indent, without a comma at the end.
 */
export async function insertMember(
  text: string,
  member: string,
  needed: NeededImport = { from: '', names: [] },
): Promise<Insertion> {
  const { ts } = await import('ts-morph');
  const source = parse(ts, text);
  if (!source) return { refused: 'the file has a syntax error' };
  const object = findResolvers(ts, source);
  if (!object) return { refused: 'it has no "export const resolvers = { … }"' };
  const taken = needed.names.filter((name) => isTaken(ts, source, name, needed.from));
  if (taken.length > 0)
    return { refused: `it has something of its own called ${taken.join(' and ')}` };
  const pieces = [...importPieces(ts, source, needed), memberPiece(text, object, source, member)];
  const edited = withPieces(text, pieces);
  return edited !== null && parse(ts, edited)
    ? { text: edited }
    : { refused: 'the result would not be sound' };
}

function memberPiece(
  text: string,
  object: TypeScript.ObjectLiteralExpression,
  source: TypeScript.SourceFile,
  member: string,
): InsertedText {
  const end = lineEndOf(text);
  const at =
    object.properties.length > 0 ? object.properties.at(-1)!.end : object.getStart(source) + 1;
  const indent = indentOf(text, object, source);
  const comma = object.properties.length > 0 && !object.properties.hasTrailingComma ? ',' : '';
  const lines = member.split('\n').map((line) => (line === '' ? '' : `${indent}${line}`));
  const after = object.properties.hasTrailingComma ? text.indexOf(',', at) + 1 : at;
  return {
    at: after,
    text: `${comma}${end}${lines.join(end)},${object.properties.length === 0 && !text.slice(after).startsWith(end) ? end : ''}`,
  };
}

/** Names of the members that `export const resolvers = { … }` has; null when it cannot be read. */
export async function memberNames(text: string): Promise<readonly string[] | null> {
  const { ts } = await import('ts-morph');
  const source = parse(ts, text);
  const object = source && findResolvers(ts, source);
  return object
    ? object.properties.map(
        (property) => property.name?.getText(source!).replace(/^['"]|['"]$/g, '') ?? '',
      )
    : null;
}

/** The position of a member's name; null when there is no such member. */
export async function memberRange(
  text: string,
  name: string,
): Promise<{ start: number; end: number; shorthand: boolean } | null> {
  const { ts } = await import('ts-morph');
  const source = parse(ts, text);
  const object = source && findResolvers(ts, source);
  const property = object?.properties.find(
    (each) => each.name?.getText(source!).replace(/^['"]|['"]$/g, '') === name,
  );
  if (!property?.name) return null;
  return {
    start: property.name.getStart(source!),
    end: property.name.end,
    shorthand: ts.isShorthandPropertyAssignment(property),
  };
}

function parse(ts: typeof TypeScript, text: string): TypeScript.SourceFile | null {
  const source = ts.createSourceFile('resolvers.ts', text, ts.ScriptTarget.Latest, true);
  const { parseDiagnostics } = source as unknown as {
    readonly parseDiagnostics: readonly unknown[];
  };
  return parseDiagnostics.length === 0 ? source : null;
}

function findResolvers(
  ts: typeof TypeScript,
  source: TypeScript.SourceFile,
): TypeScript.ObjectLiteralExpression | null {
  for (const statement of source.statements) {
    if (!ts.isVariableStatement(statement)) continue;
    const found = statement.declarationList.declarations.find(
      ({ name }) => name.getText(source) === 'resolvers',
    );
    const value = found?.initializer && unwrap(ts, found.initializer);
    if (value && ts.isObjectLiteralExpression(value)) return value;
  }
  return null;
}

/** `{ … } satisfies types.QueryOverrides` → `{ … }` */
function unwrap(ts: typeof TypeScript, node: TypeScript.Expression): TypeScript.Expression {
  return ts.isSatisfiesExpression(node) ||
    ts.isAsExpression(node) ||
    ts.isParenthesizedExpression(node)
    ? unwrap(ts, node.expression)
    : node;
}

/** The indent of the first member, or two spaces. */
function indentOf(
  text: string,
  object: TypeScript.ObjectLiteralExpression,
  source: TypeScript.SourceFile,
): string {
  const [first] = object.properties;
  if (!first) return '  ';
  const start = first.getStart(source);
  return /^[ \t]*$/.exec(text.slice(text.lastIndexOf('\n', start) + 1, start))?.[0] ?? '  ';
}
