import { posix } from 'node:path';
import { stripTypeScriptTypes } from 'node:module';
import type { ConsoleOwnPage, Diagnostic, Project, SourceText } from '@twofold/schema';
import type { ts as TypeScript } from 'ts-morph';
import type { Sources } from './files.ts';

/** The names that a page may import without a path. */
const PACKAGE = '@twofold/console';
const PATH = /^[a-z][a-z0-9-]*(\/(:[A-Za-z]\w*|[a-z0-9][a-z0-9-]*))*$/;
const PERMISSION = /^(\*|\*:read|[a-z][\w-]*:(\*|[a-z][\w-]*))$/;

/** A parsed file of the folder of pages. */
interface Parsed {
  readonly ts: typeof TypeScript;
  readonly folder: string;
  readonly source: SourceText;
  readonly tree: TypeScript.SourceFile;
  /** Every file of the folder. */
  readonly files: ReadonlySet<string>;
}

/** The result of reading a file: problems, and the page that it defines. */
interface Reading {
  readonly problems: readonly Diagnostic[];
  readonly page?: ConsoleOwnPage;
  /** The position of the path in the manifest. */
  readonly at?: Diagnostic['at'];
}

/**
 * Reads the pages of the console from their files, without running them. Files at the top of the
 * folder are pages; those in folders below are parts that pages import.
 *
 * @returns the project that knows its pages, and CONSOLE_PAGE_IMPORT and CONSOLE_PAGE_INVALID.
 */
export async function withOwnPages(
  project: Project,
  { folder, texts }: NonNullable<Sources['pages']>,
): Promise<{ readonly project: Project; readonly findings: readonly Diagnostic[] }> {
  const { ts } = await import('ts-morph');
  const files = new Set(texts.map(({ file }) => file));
  const readings = texts.map((source) =>
    readFile({ ts, folder, source, files, tree: parse(ts, source) }),
  );
  const list = readings.flatMap(({ page }) => page ?? []);
  return {
    project: { ...project, console: { ...project.console!, ownPages: { folder, list } } },
    findings: [...readings.flatMap(({ problems }) => problems), ...takenPaths(readings)],
  };
}

const parse = (ts: typeof TypeScript, { file, text }: SourceText) =>
  ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);

function readFile(parsed: Parsed): Reading {
  const { source, folder } = parsed;
  const unreadable = syntaxProblem(parsed);
  if (unreadable) return { problems: [unreadable] };
  const imports = importProblems(parsed);
  const isPage = posix.dirname(source.file) === folder;
  const { problems, ...page } = isPage ? readPage(parsed) : { problems: [] };
  return { problems: [...imports, ...problems], ...page };
}

/** The finding for text that is not TypeScript, or that has types which Node cannot strip. */
function syntaxProblem({ tree, source }: Parsed): Diagnostic | null {
  const [first] = (tree as unknown as { parseDiagnostics: TypeScript.Diagnostic[] })
    .parseDiagnostics;
  const why = 'the browser gets the file with its types left out, and nothing else is compiled';
  if (first) {
    const text =
      typeof first.messageText === 'string' ? first.messageText : first.messageText.messageText;
    return invalid(placeOf(tree, first.start ?? 0, first.length ?? 1), {
      file: source.file,
      what: text,
      why,
      fix: 'correct the syntax',
    });
  }
  try {
    if (source.file.endsWith('.ts')) stripTypeScriptTypes(source.text);
    return null;
  } catch (error) {
    const { message } = error as Error;
    const start = offsetOf(tree, message);
    return invalid(placeOf(tree, start, 1), {
      file: source.file,
      what: message.split('\n')[0]!,
      why,
      fix: 'use types that can be left out: no enum, no namespace, no parameter properties',
    });
  }
}

/** The position of the statement that Node refuses; Node quotes it in its message. */
function offsetOf(tree: TypeScript.SourceFile, message: string): number {
  const line = /^\s*(\d+)\s*\|/m.exec(message)?.[1];
  if (line !== undefined) return tree.getPositionOfLineAndCharacter(Number(line) - 1, 0);
  const word = /\b(enum|namespace|module)\b/.exec(message)?.[1] ?? 'enum';
  return Math.max(0, tree.text.search(new RegExp(`\\b${word}\\b`)));
}

function importProblems(parsed: Parsed): Diagnostic[] {
  const { ts, tree } = parsed;
  const problems: Diagnostic[] = [];
  const visit = (node: TypeScript.Node): void => {
    const named = specifierOf(ts, node);
    const problem = named && importProblem(parsed, named);
    if (problem) problems.push(problem);
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return problems;
}

/**
 * The expression that names an imported module, for imports that the browser loads. Imports of
 * types are skipped.
 */
function specifierOf(
  ts: typeof TypeScript,
  node: TypeScript.Node,
): TypeScript.Expression | undefined {
  if (ts.isImportDeclaration(node))
    return node.importClause?.isTypeOnly ? undefined : node.moduleSpecifier;
  if (ts.isExportDeclaration(node)) return node.isTypeOnly ? undefined : node.moduleSpecifier;
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
    return node.arguments[0];
  return undefined;
}

function importProblem(
  { ts, tree, source, folder, files }: Parsed,
  named: TypeScript.Expression,
): Diagnostic | null {
  const at = { ...placeOf(tree, named.getStart(), named.getWidth()), file: source.file };
  const text = ts.isStringLiteralLike(named) ? named.text : null;
  if (text === PACKAGE) return null;
  const found = text?.startsWith('.') ? posix.join(posix.dirname(source.file), text) : null;
  if (found !== null && files.has(found)) return null;
  const near =
    found &&
    [`${found}.ts`, `${found}.js`, found.replace(/\.js$/, '.ts')].find((file) => files.has(file));
  return {
    code: 'CONSOLE_PAGE_IMPORT',
    severity: 'error',
    summary: `${source.file} imports ${text ?? 'a name that is computed'}`,
    why: `the browser loads the files of ${folder}/ and ${PACKAGE}, and nothing is bundled or installed for it`,
    fix: near
      ? `name the file with its ending: ${relative(source.file, near)}`
      : found?.startsWith(`${folder}/`)
        ? `correct the path: there is no ${found}`
        : `import from ${PACKAGE} or a file below ${folder}/; what needs a package belongs in a route of the server`,
    at,
  };
}

function relative(from: string, to: string): string {
  const path = posix.relative(posix.dirname(from), to);
  return path.startsWith('.') ? path : `./${path}`;
}

function readPage(parsed: Parsed): Reading {
  const { ts, tree, source } = parsed;
  const { file } = source;
  const given = definitionOf(ts, tree);
  if (!given)
    return {
      problems: [
        invalid(placeOf(tree, 0, 1), {
          file,
          what: 'has no page as its default export',
          why: 'each file at the top of the folder is a page; parts that pages share stand in folders below',
          fix: `export default definePage({ title: 'Sales', path: 'sales', render: () => html\`…\` })`,
        }),
      ],
    };
  const problems: Diagnostic[] = [];
  const text = (name: string, wanted: WantedText) => {
    const read = readText(parsed, given, name, wanted);
    if (typeof read === 'object') problems.push(read);
    return typeof read === 'string' ? read : undefined;
  };
  const title = text('title', { form: /\S/, example: "title: 'Sales'" });
  const path = text('path', { form: PATH, example: "path: 'sales'" });
  const permission = text('permission', {
    form: PERMISSION,
    example: "permission: 'orders:read'",
    optional: true,
  });
  if (problems.length > 0 || title === undefined || path === undefined) return { problems };
  const member = memberOf(ts, given, 'path')!;
  return {
    problems,
    page: { title, path, permission: permission ?? null, file },
    at: { ...placeOf(tree, member.getStart(), member.getWidth()), file },
  };
}

/** A member of a page that the server reads without running its file. */
interface WantedText {
  readonly form: RegExp;
  readonly example: string;
  readonly optional?: boolean;
}

/** The text of a member, undefined for an optional one that is missing, or what is wrong. */
function readText(
  { ts, tree, source }: Parsed,
  given: TypeScript.ObjectLiteralExpression,
  name: string,
  { form, example, optional = false }: WantedText,
): string | Diagnostic | undefined {
  const member = memberOf(ts, given, name);
  if (!member && optional) return undefined;
  const value = member?.initializer;
  if (value && ts.isStringLiteralLike(value) && form.test(value.text)) return value.text;
  const node = member ?? given;
  const inQuotes = name === 'path' ? 'a text in quotes of lower case words' : 'a text in quotes';
  return invalid(placeOf(tree, node.getStart(), node.getWidth()), {
    file: source.file,
    what: member ? `the page has a ${name} that cannot be used` : `the page has no ${name}`,
    why: `the server reads the ${name} without running the file, so it is ${inQuotes}`,
    fix: example,
  });
}

/** The object that `export default definePage({ … })` is given. */
function definitionOf(
  ts: typeof TypeScript,
  tree: TypeScript.SourceFile,
): TypeScript.ObjectLiteralExpression | undefined {
  const exported = tree.statements.find(
    (each) => ts.isExportAssignment(each) && !each.isExportEquals,
  );
  const call = exported && (exported as TypeScript.ExportAssignment).expression;
  if (!call || !ts.isCallExpression(call) || call.expression.getText() !== 'definePage')
    return undefined;
  const [given] = call.arguments;
  return given && ts.isObjectLiteralExpression(given) ? given : undefined;
}

const memberOf = (ts: typeof TypeScript, given: TypeScript.ObjectLiteralExpression, name: string) =>
  given.properties.find(
    (each): each is TypeScript.PropertyAssignment =>
      ts.isPropertyAssignment(each) && each.name.getText() === name,
  );

function* takenPaths(readings: readonly Reading[]): Generator<Diagnostic> {
  const first = new Map<string, ConsoleOwnPage>();
  for (const { page, at } of readings) {
    if (!page || !at) continue;
    const key = page.path.replaceAll(/:\w+/g, ':');
    const other = first.get(key);
    if (!other) first.set(key, page);
    else
      yield invalid(at, {
        file: page.file,
        what: `the path ${page.path} is taken`,
        why: `${other.file} has it too`,
        fix: `path: '${page.path}-2'`,
      });
  }
}

interface PageProblem {
  readonly file: string;
  readonly what: string;
  readonly why: string;
  readonly fix: string;
}

const invalid = (
  at: Omit<Diagnostic['at'], 'file'>,
  { file, what, why, fix }: PageProblem,
): Diagnostic => ({
  code: 'CONSOLE_PAGE_INVALID',
  severity: 'error',
  summary: `${file}: ${what}`,
  why,
  fix,
  at: { ...at, file },
});

function placeOf(
  tree: TypeScript.SourceFile,
  start: number,
  length: number,
): Omit<Diagnostic['at'], 'file'> {
  const { line, character } = tree.getLineAndCharacterOfPosition(start);
  const rest = tree.text.slice(start).split('\n', 1)[0]!.length;
  return { line: line + 1, column: character + 1, length: Math.max(1, Math.min(length, rest)) };
}
