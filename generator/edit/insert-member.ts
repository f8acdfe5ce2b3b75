import { last } from '@twofold/schema';
import type { ts as TypeScript } from 'ts-morph';
import { lineEndOf, withPieces, type InsertedText } from './pieces.ts';

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
    object.properties.length > 0 ? last(object.properties).end : object.getStart(source) + 1;
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

type Ts = typeof TypeScript;

/** Names of a module that a member needs. */
interface NeededImport {
  readonly from: string;
  readonly names: readonly string[];
}

/** The pieces to insert so that a file imports these names; empty if it already does. */
function importPieces(
  ts: Ts,
  source: TypeScript.SourceFile,
  { from, names }: NeededImport,
): InsertedText[] {
  const imports = source.statements.filter((statement) => ts.isImportDeclaration(statement));
  const ours = imports.flatMap((statement) => namedImports(ts, statement, from) ?? []);
  const missing = names.filter(
    (name) => !ours.some(({ elements }) => elements.some((element) => element.name.text === name)),
  );
  if (missing.length === 0) return [];
  const list = ours.find(({ elements }) => elements.length > 0);
  if (list)
    return [{ at: last(list.elements).end, text: missing.map((name) => `, ${name}`).join('') }];
  const { text } = source;
  const end = lineEndOf(text);
  const line = `import { ${missing.join(', ')} } from '${from}';`;
  const first = imports[0];
  if (first) return [{ at: first.getStart(source), text: `${line}${end}` }];
  const top = /^\uFEFF?(?:#!.*\r?\n)?/.exec(text)![0].length;
  return [{ at: top, text: `${line}${end}${end}` }];
}

/** Whether the file already uses the name for something else. */
function isTaken(ts: Ts, source: TypeScript.SourceFile, name: string, from: string): boolean {
  return source.statements.some((statement) => {
    if (ts.isImportDeclaration(statement))
      return (
        importedNames(ts, statement).includes(name) &&
        !namedImports(ts, statement, from)?.elements.some(
          (element) => element.name.text === name && !element.propertyName,
        )
      );
    if (ts.isVariableStatement(statement))
      return statement.declarationList.declarations.some(
        (each) => each.name.getText(source) === name,
      );
    return (
      (ts.isFunctionDeclaration(statement) ||
        ts.isClassDeclaration(statement) ||
        ts.isEnumDeclaration(statement)) &&
      statement.name?.text === name
    );
  });
}

/** `{ a, b }` of an import of values from a module. */
function namedImports(
  ts: Ts,
  { importClause, moduleSpecifier }: TypeScript.ImportDeclaration,
  from: string,
): TypeScript.NamedImports | undefined {
  if (
    !ts.isStringLiteral(moduleSpecifier) ||
    moduleSpecifier.text !== from ||
    !importClause ||
    importClause.isTypeOnly
  )
    return undefined;
  const { namedBindings } = importClause;
  return namedBindings && ts.isNamedImports(namedBindings) ? namedBindings : undefined;
}

/** Every local name that an import declares. */
function importedNames(ts: Ts, { importClause }: TypeScript.ImportDeclaration): string[] {
  const bindings = importClause?.namedBindings;
  const named = !bindings
    ? []
    : ts.isNamedImports(bindings)
      ? bindings.elements.map((element) => element.name.text)
      : [bindings.name.text];
  return [...(importClause?.name ? [importClause.name.text] : []), ...named];
}
