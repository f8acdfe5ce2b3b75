import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ts } from 'ts-morph';
import { describe, expect, it } from 'vitest';
import { root, sourceFiles } from './source-files.ts';

/** Lines of a file that are neither blank nor comment, for each part of the runtime. */
const RUNTIME_BUDGET: Readonly<Record<string, number>> = { kernel: 1300, store: 1350, model: 700, data: 2500, graphql: 4150, rest: 1500, seed: 450, auth: 5500, hosting: 10500 };
const FILE_LIMIT = 300;
const FUNCTION_LIMIT = 60;
const FUNCTION_MEDIAN = 8;
const FUNCTION_P90 = 25;

const files = ['schema', 'runtime', 'templates', 'generator'].flatMap(sourceFiles).map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
const functions = files.flatMap(({ path, text }) => functionsOf(path, text));

describe('sizes', () => {
  it(`keeps every file under ${FILE_LIMIT} lines`, () => {
    const long = files.map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 })).filter(({ path, lines }) => lines > FILE_LIMIT && !isTable(path));
    expect(long).toEqual([]);
  });

  it(`keeps every function at ${FUNCTION_LIMIT} lines or fewer`, () => {
    expect(functions.filter(({ lines }) => lines > FUNCTION_LIMIT)).toEqual([]);
  });

  it(`keeps the median function at ${FUNCTION_MEDIAN} lines and the ninth decile at ${FUNCTION_P90}`, () => {
    const lengths = functions.map(({ lines }) => lines).sort((a, b) => a - b);
    expect(lengths[Math.floor(lengths.length / 2)]).toBeLessThanOrEqual(FUNCTION_MEDIAN);
    expect(lengths[Math.floor(lengths.length * 0.9)]).toBeLessThanOrEqual(FUNCTION_P90);
  });

  it('keeps each part of the runtime within its budget', () => {
    const report = sizesByPart();
    process.stderr.write(`lines of code: ${Object.entries(report).map(([part, lines]) => `${part} ${lines}`).join(', ')}\n`);
    expect(Object.entries(report).filter(([part, lines]) => lines > (RUNTIME_BUDGET[part] ?? 0))).toEqual([]);
  });
});

/** Tests that are longer than the rule: they may get shorter, and none may be added. */
const LONG_TESTS: Readonly<Record<string, number>> = {};
const LONG_TEST_FUNCTIONS: Readonly<Record<string, number>> = {};

describe('sizes of tests', () => {
  const tests = sourceFiles('test').map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));

  it(`keeps every file under ${FILE_LIMIT} lines, but for a list that only shrinks`, () => {
    const long = tests.map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 })).filter(({ lines }) => lines > FILE_LIMIT);
    expect(long.filter(({ path, lines }) => lines > (LONG_TESTS[path] ?? FILE_LIMIT))).toEqual([]);
    expect(Object.keys(LONG_TESTS).filter((path) => !long.some((file) => file.path === path))).toEqual([]);
  });

  it(`keeps every function at ${FUNCTION_LIMIT} lines or fewer, but for a list that only shrinks`, () => {
    const long = tests.flatMap(({ path, text }) => functionsOf(path, text).filter(({ lines, title }) => lines > FUNCTION_LIMIT && !title).map((each) => ({ ...each, path })));
    expect(long.filter(({ path, lines }) => lines > (LONG_TEST_FUNCTIONS[path] ?? FUNCTION_LIMIT))).toEqual([]);
    expect(Object.keys(LONG_TEST_FUNCTIONS).filter((path) => !long.some((each) => each.path === path))).toEqual([]);
  });
});

/** Data, not code: as long as what it lists. */
const isTable = (path: string) => /^schema\/routes\/\w+\.ts$|\/catalogue(\/|\.ts)|\/tables?\.ts$/.test(path);

function sizesByPart(): Record<string, number> {
  const sizes: Record<string, number> = {};
  for (const { path, text } of files.filter((file) => file.path.startsWith('runtime/'))) {
    const folder = path.split('/')[1] ?? '';
    const part = folder in RUNTIME_BUDGET ? folder : 'kernel';
    sizes[part] = (sizes[part] ?? 0) + codeLines(text);
  }
  return sizes;
}

const codeLines = (text: string) => text.replaceAll(/\/\*[\s\S]*?\*\//g, '').split('\n').filter((line) => line.trim() !== '' && !line.trim().startsWith('//')).length;

/** Every function with a block for a body, and how many lines it takes. `title`: it is the body of a `describe`, a list of tests. */
function functionsOf(path: string, text: string): { place: string; lines: number; title: boolean }[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const found: { place: string; lines: number; title: boolean }[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body && ts.isBlock(node.body as ts.Node)) {
      const line = (position: number) => source.getLineAndCharacterOfPosition(position).line + 1;
      found.push({ place: `${path}:${line(node.getStart())}`, lines: line(node.getEnd()) - line(node.getStart()) + 1, title: isDescribe(node.parent) });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function isDescribe(node: ts.Node): boolean {
  return ts.isCallExpression(node) && /^describe/.test(node.expression.getText());
}
