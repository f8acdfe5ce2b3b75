import type { ts as TypeScript } from 'ts-morph';
import { lineEndOf, type InsertedText } from './pieces.ts';

type Ts = typeof TypeScript;

/** Names of a module that a member needs. */
export interface NeededImport {
  readonly from: string;
  readonly names: readonly string[];
}

/** The pieces to insert so that a file imports these names; empty if it already does. */
export function importPieces(
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
    return [{ at: list.elements.at(-1)!.end, text: missing.map((name) => `, ${name}`).join('') }];
  const { text } = source;
  const end = lineEndOf(text);
  const line = `import { ${missing.join(', ')} } from '${from}';`;
  const first = imports[0];
  if (first) return [{ at: first.getStart(source), text: `${line}${end}` }];
  const top = /^\uFEFF?(?:#!.*\r?\n)?/.exec(text)![0].length;
  return [{ at: top, text: `${line}${end}${end}` }];
}

/** Whether the file already uses the name for something else. */
export function isTaken(
  ts: Ts,
  source: TypeScript.SourceFile,
  name: string,
  from: string,
): boolean {
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
