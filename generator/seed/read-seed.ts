import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { CommandError, EXIT } from '../failure.ts';
import { hasCode } from '../write/disk.ts';

/** One row in the form of the runtime. */
export interface SeedRow {
  readonly type: string;
  readonly key: string | null;
  readonly values: Readonly<Record<string, unknown>>;
}

/** A file of rows. */
export interface SeedFile {
  readonly path: string;
  readonly rows: readonly SeedRow[];
  /** Line and column of a row, or of one of its fields; 1 and 1 where the place is unknown. */
  place(
    row: number,
    field?: string,
  ): { readonly line: number; readonly column: number; readonly text: string };
}

/** The default seed files, in the order in which they are looked for. */
export const SEED_FILES = ['seed.yaml', 'seed.yml', 'seed.json'];

/**
 * Bytes. A larger JSON file is parsed without line numbers; these are found when a finding needs
 * one.
 */
const LARGE_FILE = 4 * 1024 * 1024;

/**
 * Reads a seed: the rows of each type, by key or as a list.
 *
 * @throws CommandError 3 with file and line, if the file has another form.
 */
export async function readSeed(root: string, named: string | undefined): Promise<SeedFile> {
  const path = named ?? (await firstThere(root));
  const text = await readText(resolve(root, path), path);
  const isJson = path.endsWith('.json');
  const { parseDocument, LineCounter } = await import('yaml');
  const parse = () => {
    const lines = new LineCounter();
    return {
      lines,
      document: parseDocument(text, {
        lineCounter: lines,
        uniqueKeys: true,
        prettyErrors: false,
        ...(isJson && { schema: 'json' as const }),
      }),
    };
  };
  let parsed = isJson && text.length > LARGE_FILE ? null : parse();
  const problem = parsed?.document.errors[0];
  if (parsed && problem) {
    const { line } = parsed.lines.linePos(problem.pos[0]);
    throw invalid(path, line, problem.message);
  }
  const rows = rowsOf(parsed ? toData(parsed.document, path) : parseLarge(text, path), path);
  return {
    path,
    rows: rows.map(({ row }) => row),
    place: (index, field) => {
      parsed ??= parse();
      const at = rows[index]?.path ?? [];
      const node = [field === undefined ? at : [...at, field], at]
        .map((each) => keyNode(parsed!.document, each))
        .find((each) => each?.range);
      const { line, col } = parsed.lines.linePos(node?.range?.[0] ?? 0);
      return {
        line: Math.max(1, line),
        column: Math.max(1, col),
        text: text.split(/\r?\n/, line)[line - 1] ?? '',
      };
    },
  };
}

interface YamlNode {
  readonly range?: readonly [number, number, number] | null;
}

/** The node to point at for a path: the key of a mapping, or the item of a list. */
function keyNode(
  document: { getIn(path: readonly unknown[], keep: true): unknown },
  path: readonly (string | number)[],
): YamlNode | undefined {
  const last = path.at(-1);
  const holder = document.getIn(path.slice(0, -1), true) as
    | { items?: readonly unknown[] }
    | undefined;
  if (typeof last === 'number') return document.getIn(path, true) as YamlNode | undefined;
  const pair = holder?.items?.find(
    (item) => String((item as { key?: { value?: unknown } }).key?.value) === last,
  );
  return (pair as { key?: YamlNode } | undefined)?.key;
}

/** Limits the expansion of YAML aliases, which can grow exponentially. */
function toData(
  document: { toJS(options: { maxAliasCount: number }): unknown },
  path: string,
): unknown {
  try {
    const data = document.toJS({ maxAliasCount: 1000 });
    JSON.stringify(data);
    return data;
  } catch (error) {
    throw invalid(
      path,
      1,
      `an alias of the file cannot be followed: ${(error as Error).message.split('\n')[0]}`,
    );
  }
}

function parseLarge(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const line = Number(/line (\d+)/.exec((error as Error).message)?.[1] ?? 1);
    throw invalid(path, line, (error as Error).message);
  }
}

interface PlacedRow {
  readonly row: SeedRow;
  readonly path: readonly (string | number)[];
}

function rowsOf(data: unknown, path: string): PlacedRow[] {
  if (data === null || data === undefined) return [];
  if (!isMapping(data)) throw invalid(path, 1, 'a seed is a mapping: for each type its rows');
  return Object.entries(data).flatMap(([type, rows]): PlacedRow[] => {
    if (rows === null) return [];
    if (Array.isArray(rows))
      return rows.map((values, at) => ({
        row: { type, key: null, values: valuesOf(values, `${type}[${at}]`, path) },
        path: [type, at],
      }));
    if (!isMapping(rows))
      throw invalid(path, 1, `${type} is neither a mapping of rows by key nor a list of rows`);
    return Object.entries(rows).map(([key, values]) => ({
      row: { type, key, values: valuesOf(values ?? {}, `${type}.${key}`, path) },
      path: [type, key],
    }));
  });
}

function valuesOf(values: unknown, name: string, path: string): SeedRow['values'] {
  if (isMapping(values)) return values;
  throw invalid(path, 1, `${name} is not a mapping of fields to values`);
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

async function firstThere(root: string): Promise<string> {
  for (const path of SEED_FILES) {
    if ((await readFile(join(root, path)).catch(() => null)) !== null) return path;
  }
  throw new CommandError('NO_SEED', {
    message: `there is no ${SEED_FILES.join(' or ')} in ${root}`,
    fix: 'npm run generator -- seed FILE',
  });
}

async function readText(full: string, path: string): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(full));
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EISDIR'))
      throw new CommandError('NO_SEED', { message: `there is no file ${path}` });
    if (error instanceof TypeError) throw invalid(path, 1, 'the file is not UTF-8 text');
    throw error;
  }
}

function invalid(path: string, line: number, message: string): CommandError {
  return new CommandError('SEED_INVALID', {
    message: `${path}:${line}  ${message}`,
    exit: EXIT.invalid,
  });
}
