import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ts } from 'ts-morph';
import { describe, expect, it } from 'vitest';
import { root, sourceFiles } from './source-files.ts';

// All sizes are lines of text as `npm run format` lays it out, at 100 columns: packing code does not make it smaller.

const FILE_LIMIT = 400;
const FILE_P90 = 220;
const FUNCTION_LIMIT = 80;
const FUNCTION_MEDIAN = 10;
const FUNCTION_P90 = 25;

/** Lines of each part of the runtime. A commit that raises one does nothing else and says why. */
const RUNTIME_BUDGET: Readonly<Record<string, number>> = {
  core: 51_830,
  database: 11_068,
  auth: 25_980,
  hosting: 34_920,
  models: 8_920,
  console: 20_210,
};

/** Functions that were longer than the limit before it was counted on formatted text. The list may only get shorter. */
const LONG_FUNCTIONS: readonly string[] = [];

/** Files that were longer than the limit before it was counted on formatted text. The list may only get shorter. */
const LONG_FILES: readonly string[] = [];

interface File {
  readonly path: string;
  readonly text: string;
}

const files: readonly File[] = ['schema', 'runtime', 'templates', 'generator', 'site']
  .flatMap(sourceFiles)
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
const functions = files.flatMap(functionsOf);

describe('sizes', () => {
  it(`keeps every file at ${FILE_LIMIT} lines or fewer, but for tables and a list that only shrinks`, () => {
    const long = files.filter((file) => lineCount(file) > FILE_LIMIT && !isTable(file.path));
    expect(long.map(({ path }) => path)).toEqual(LONG_FILES);
  });

  it(`keeps nine files of ten at ${FILE_P90} lines or fewer`, () => {
    expect(quantile(files.map(lineCount), 0.9)).toBeLessThanOrEqual(FILE_P90);
  });

  it(`keeps every function at ${FUNCTION_LIMIT} lines or fewer, but for a list that only shrinks`, () => {
    const long = functions.filter(({ lines }) => lines > FUNCTION_LIMIT);
    expect([...new Set(long.map(({ path }) => path))].sort()).toEqual(LONG_FUNCTIONS);
  });

  it(`keeps the median function at ${FUNCTION_MEDIAN} lines and nine of ten at ${FUNCTION_P90}`, () => {
    const blocks = functions.filter(({ block }) => block).map(({ lines }) => lines);
    expect(quantile(blocks, 0.5)).toBeLessThanOrEqual(FUNCTION_MEDIAN);
    expect(quantile(blocks, 0.9)).toBeLessThanOrEqual(FUNCTION_P90);
  });

  it('keeps each part of the runtime within its budget', () => {
    const sizes = sizesByPart();
    const over = Object.entries(sizes).filter(([part, lines]) => lines > RUNTIME_BUDGET[part]!);
    expect(over).toEqual([]);
  });
});

/** Data, not code: as long as what it lists. */
function isTable(path: string): boolean {
  return /^schema\/(routes\/[\w-]+|\w+\/[\w-]*routes)\.ts$|\/catalogue(\/|\.ts)|\/tables?\.ts$/.test(
    path,
  );
}

const lineCount = ({ text }: File) => text.split('\n').length - 1;

function quantile(numbers: readonly number[], share: number): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length * share)]!;
}

function sizesByPart(): Record<string, number> {
  const sizes: Record<string, number> = {};
  for (const file of files.filter(({ path }) => path.startsWith('runtime/'))) {
    const part = file.path.split('/')[1]!;
    sizes[part] = (sizes[part] ?? 0) + lineCount(file);
  }
  return sizes;
}

interface FunctionSize {
  readonly path: string;
  readonly lines: number;
  /** False for an arrow function whose body is an expression: those are short, and would hide the others. */
  readonly block: boolean;
}

function functionsOf({ path, text }: File): FunctionSize[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const found: FunctionSize[] = [];
  const lineAt = (position: number) => source.getLineAndCharacterOfPosition(position).line;
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body) {
      const lines = lineAt(node.getEnd()) - lineAt(node.getStart()) + 1;
      found.push({ path, lines, block: ts.isBlock(node.body as ts.Node) });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}
