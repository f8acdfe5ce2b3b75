import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ts } from 'ts-morph';

/** The repository's own folder. */
export const root = fileURLToPath(new URL('..', import.meta.url));

/** One import as it is written: what it names, from where, and whether it is erased before the program runs. */
export interface Import {
  readonly from: string;
  readonly to: string;
  /** As it is written. */
  readonly specifier: string;
  readonly typeOnly: boolean;
  /** Imported as `@twofold/…` and not by its path. */
  readonly byName: boolean;
  /** Loaded by `import()`, when the program comes to it. */
  readonly lazy: boolean;
}

/** TypeScript files below `folder` (relative to the repository), as paths with `/`; generated and installed ones left out. */
export function sourceFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => join(folder, file).split(sep).join('/'))
    .filter((file) => /\.tsx?$/.test(file) && !/(^|\/)(node_modules|generated|dist)\//.test(file));
}

/** The imports of one file. A name of ours (`@twofold/…`) becomes the folder it stands for. */
export function importsOf(file: string): Import[] {
  const found: Import[] = [];
  const add = (specifier: ts.Node | undefined, typeOnly: boolean, lazy = false) => {
    if (specifier && ts.isStringLiteralLike(specifier))
      found.push({
        from: file,
        to: toPath(file, specifier.text),
        specifier: specifier.text,
        typeOnly,
        byName: isOurs(specifier.text),
        lazy,
      });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node))
      add(
        node.moduleSpecifier,
        node.importClause?.isTypeOnly === true || isTypesOnly(node.importClause),
      );
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly);
    else if (ts.isImportTypeNode(node))
      add(ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined, true);
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      add(node.arguments[0], false, true);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest));
  return found;
}

/** `import { type A, type B }` */
function isTypesOnly(clause: ts.ImportClause | undefined): boolean {
  const names = clause?.namedBindings;
  return (
    clause?.name === undefined &&
    names !== undefined &&
    ts.isNamedImports(names) &&
    names.elements.length > 0 &&
    names.elements.every(({ isTypeOnly }) => isTypeOnly)
  );
}

/** The first file of what is imported by name. */
const ENTRIES: Readonly<Record<string, string>> = {
  runtime: 'runtime/core/index.ts',
  'runtime/errors': 'runtime/core/errors.ts',
  'runtime/http': 'runtime/core/http/index.ts',
  'runtime/kernel': 'runtime/core/kernel.ts',
  'runtime/store': 'runtime/core/store/index.ts',
  'runtime/data': 'runtime/core/data/index.ts',
  database: 'runtime/database/index.ts',
  auth: 'runtime/auth/index.ts',
  hosting: 'runtime/hosting/index.ts',
  models: 'runtime/models/index.ts',
  schema: 'schema/index.ts',
  'schema/mcp': 'schema/mcp/index.ts',
  'schema/shapes': 'schema/shapes/index.ts',
};

function toPath(file: string, specifier: string): string {
  if (isOurs(specifier)) {
    const name = specifier.slice('@twofold/'.length);
    return ENTRIES[name] ?? name;
  }
  if (!specifier.startsWith('.')) return specifier;
  return relative(root, resolve(root, dirname(file), specifier))
    .split(sep)
    .join('/');
}

const isOurs = (specifier: string) => specifier.startsWith('@twofold/');

/** A name that a file imports from a file of ours. */
export interface ImportedName {
  readonly from: string;
  readonly to: string;
  readonly name: string;
}

/** The names that a file imports from others by their paths. */
export function importedNames(file: string): ImportedName[] {
  return statementsOf(file).flatMap((statement) => {
    if (!ts.isImportDeclaration(statement)) return [];
    const { text } = statement.moduleSpecifier as ts.StringLiteral;
    const names = statement.importClause?.namedBindings;
    if (!text.startsWith('.') || !names || !ts.isNamedImports(names)) return [];
    return names.elements.map((element) => ({
      from: file,
      to: toPath(file, text),
      name: (element.propertyName ?? element.name).text,
    }));
  });
}

/** The names that a file exports; none when there is no such file. */
export function exportedNames(file: string): ReadonlySet<string> {
  if (!existsSync(join(root, file))) return new Set();
  return new Set(
    statementsOf(file).flatMap((statement) => {
      if (ts.isExportDeclaration(statement))
        return statement.exportClause && ts.isNamedExports(statement.exportClause)
          ? statement.exportClause.elements.map(({ name }) => name.text)
          : [];
      const isExported =
        ts.canHaveModifiers(statement) &&
        ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
      if (!isExported) return [];
      if (ts.isVariableStatement(statement))
        return statement.declarationList.declarations.map(({ name }) => name.getText());
      return 'name' in statement ? [(statement.name as ts.Identifier).text] : [];
    }),
  );
}

const statementsOf = (file: string): readonly ts.Statement[] =>
  ts.createSourceFile(
    file,
    readFileSync(join(root, file), 'utf8'),
    ts.ScriptTarget.Latest,
    /* setParentNodes */ true,
  ).statements;
