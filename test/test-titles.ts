import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ts } from 'ts-morph';
import { root } from './source-files.ts';

/** A test as its file says it is. */
export interface TestTitle {
  /** As it stands in the source: `${…}` and `%s` are not filled in. */
  readonly title: string;
  readonly suite: Suite;
}

/** The outermost statement that holds a test. */
export interface Suite {
  /** Its source text: `describe.each(databases)('…', () => { … })`. */
  readonly text: string;
  /** The title of the outermost `describe`, or the text of the test itself where there is none. */
  readonly title: string;
}

const TESTS = new Set(['it', 'test']);
const SUITES = /^describe/;

/** Every test and its suite in a file, by its path in the repository. Read from the syntax: the layout does not matter. */
export function testTitles(path: string): TestTitle[] {
  const text = readFileSync(join(root, path), 'utf8');
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  return source.statements.flatMap((statement) => {
    const calls = callsIn(statement);
    const describing = calls.find(({ name }) => SUITES.test(name));
    const suite = { text: statement.getText(), title: describing?.title ?? statement.getText() };
    return calls.filter(({ name }) => TESTS.has(name)).map(({ title }) => ({ title, suite }));
  });
}

/** A call whose first argument is a title. */
interface TitledCall {
  /** The first name of what is called: `it` of `it.each(…)('…')`. */
  readonly name: string;
  readonly title: string;
}

function callsIn(statement: ts.Statement): TitledCall[] {
  const found: TitledCall[] = [];
  const visit = (node: ts.Node): void => {
    const title = ts.isCallExpression(node) ? titleOf(node) : undefined;
    if (title !== undefined) found.push({ name: nameOf(node as ts.CallExpression), title });
    ts.forEachChild(node, visit);
  };
  visit(statement);
  return found;
}

function titleOf({ arguments: given }: ts.CallExpression): string | undefined {
  const literal = given.findLast(
    (each) => ts.isStringLiteralLike(each) || ts.isTemplateExpression(each),
  );
  if (!literal || given.length < 2) return undefined;
  return ts.isStringLiteralLike(literal) ? literal.text : literal.getText().slice(1, -1);
}

function nameOf({ expression }: ts.CallExpression): string {
  let callee: ts.Expression = expression;
  while (!ts.isIdentifier(callee)) {
    if (ts.isCallExpression(callee) || ts.isPropertyAccessExpression(callee))
      callee = callee.expression;
    else return '';
  }
  return callee.text;
}
