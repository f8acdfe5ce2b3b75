import { first } from '@twofold/schema';
import {
  existsSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  cpSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, dirname, relative, sep } from 'node:path';
import type { Diagnostic } from '@twofold/schema';
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { findMissingExports } from '../missing-exports.ts';
import { findHookProblems } from '../user-hooks.ts';
import { findJobProblems } from '../user-jobs.ts';
import { placeInWorkTree, type Checkout } from './base/checkout.ts';
import type { Change, Place } from './change.ts';
import type { Side } from './side.ts';
import { planSources } from '../pipeline.ts';
import { disk } from '../write/disk.ts';

export interface CodeComparison {
  readonly changes: readonly Change[];
  /** Why `tsc` was not asked; absent when it was. */
  readonly skipped?: string;
}

/** Errors of the functions and of the compiler that the base does not have. */
export async function codeChanges(
  base: Side,
  head: Side,
  checkout: Checkout,
): Promise<CodeComparison> {
  const functions = newOnes(functionErrors(base), functionErrors(head));
  const compiler = compilerOf(head.root);
  if (compiler === null || !existsSync(join(head.root, 'tsconfig.json')))
    return {
      changes: functions,
      skipped:
        compiler === null
          ? 'typescript is not installed here: npm install'
          : 'the project has no tsconfig.json',
    };
  const { work, prefix } = await placeInWorkTree(head.root);
  const copy = realpathSync(mkdtempSync(join(tmpdir(), 'twofold-breaking-')));
  try {
    const levels = levelsOf(head.root, realpathSync(work), copy);
    for (const [from, to] of levels.slice(1)) copySettings(from, to);
    copyTexts(head.root, join(copy, prefix));
    linkPackages(levels);
    linkPackages(levelsOf(head.root, realpathSync(work), checkout.top));
    await writeGenerated(head, join(copy, prefix));
    await writeGenerated(base, checkout.root);
    const [before, after] = await Promise.all([
      typeErrors(checkout.root.replace(/\/$/, ''), compiler),
      typeErrors(join(copy, prefix).replace(/\/$/, ''), compiler),
    ]);
    return { changes: [...functions, ...newOnes(before, after)] };
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/**
 * An error is the same as one of the base if file, code and message are equal, at whatever line.
 */
function newOnes(before: readonly TypeError[], after: readonly TypeError[]): Change[] {
  const left = new Map<string, number>();
  const keyOf = ({ file, code, message }: TypeError) => `${file} ${code} ${message}`;
  for (const error of before) left.set(keyOf(error), (left.get(keyOf(error)) ?? 0) + 1);
  return after.flatMap((error): Change[] => {
    const count = left.get(keyOf(error)) ?? 0;
    left.set(keyOf(error), count - 1);
    if (count > 0) return [];
    const { file, line, column, code, message } = error;
    const at = { file, line, column };
    return [{ class: 'code', level: 'breaking', code, coordinate: file, message, at }];
  });
}

function functionErrors({ project, sources }: Side): TypeError[] {
  const findings: Diagnostic[] = [
    ...findHookProblems(project, sources.otherUserTexts),
    ...findJobProblems(sources.otherUserTexts),
    ...findMissingExports(sources),
  ];
  return findings
    .filter(({ severity }) => severity === 'error')
    .map(({ code, summary, at: { file, line, column } }) => ({
      file,
      line,
      column,
      code,
      message: summary,
    }));
}

/** An error of the compiler. */
interface TypeError extends Place {
  /** `TS2345` */
  readonly code: string;
  readonly message: string;
}

/** The path of the project's own compiler; null where none is installed. */
function compilerOf(project: string): string | null {
  try {
    const file = createRequire(join(project, 'package.json')).resolve('typescript/package.json');
    const { bin } = createRequire(import.meta.url)(file) as { bin: { tsc: string } };
    return join(dirname(file), bin.tsc);
  } catch {
    return null;
  }
}

/**
 * Type-checks a folder by its `tsconfig.json`, and emits nothing. The compiler runs no code of it.
 */
async function typeErrors(folder: string, compiler: string): Promise<TypeError[]> {
  const args = [compiler, '--noEmit', '--pretty', 'false', '--incremental', 'false', '-p', folder];
  const child = spawn(process.execPath, args, {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const out: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => void out.push(chunk));
  await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  return parseErrors(Buffer.concat(out).toString().replaceAll(`${folder}/`, ''));
}

/** Lines as `src/a.ts(3,5): error TS2322: …`; those that go on are indented. */
function parseErrors(text: string): TypeError[] {
  return text.split('\n').flatMap((line) => {
    const [, file, row, column, code, message] =
      /^(?:(.+?)\((\d+),(\d+)\): )?error (TS\d+): (.*)$/.exec(line.trimEnd()) ?? [];
    if (!code || message === undefined) return [];
    return [
      {
        file: file ?? 'tsconfig.json',
        line: Number(row ?? 1),
        column: Number(column ?? 1),
        code,
        message,
      },
    ];
  });
}

/** Folders of a project that no compiler reads. */
const SKIPPED = new Set(['node_modules', '.git', '.generator', 'dist', 'data', 'coverage']);

/** Copies the texts of a project that a compiler reads. */
function copyTexts(from: string, to: string): void {
  cpSync(from, to, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => {
      const name = path.slice(path.lastIndexOf(sep) + 1);
      return path === from || (!SKIPPED.has(name) && (!name.includes('.') || isText(name)));
    },
  });
}

const isText = (name: string) => /\.([cm]?[jt]sx?|json)$/.test(name) || name.startsWith('.');

/** Configurations above the project, which its own may extend. */
function copySettings(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from))
    if (/^(tsconfig.*|package)\.json$/.test(name)) cpSync(join(from, name), join(to, name));
}

/**
 * Links each `node_modules` of the work tree into the copy, because the copy has no packages of its
 * own.
 */
function linkPackages(levels: readonly (readonly [string, string])[]): void {
  for (const [from, to] of levels) {
    const [packages, link] = [join(from, 'node_modules'), join(to, 'node_modules')];
    if (existsSync(packages) && !existsSync(link)) symlinkSync(packages, link, 'junction');
  }
}

/** Each folder from the project up to the top, with its counterpart. */
function levelsOf(project: string, top: string, copy: string): (readonly [string, string])[] {
  const names = relative(top, project).split(sep).filter(Boolean);
  return names.reduce(
    (levels, name) => [[join(first(levels)[0], name), join(first(levels)[1], name)], ...levels],
    [[top, copy]] as (readonly [string, string])[],
  );
}

/** Writes what a run would write now, so that the code meets the types of its own schema. */
async function writeGenerated(side: Side, folder: string): Promise<void> {
  const { changes } = await planSources(
    { ...side.sources, root: folder },
    { force: true, client: false, codegen: false },
    disk,
  );
  for (const { path, after, owner } of changes) {
    if (after === null || (owner !== 'generated' && existsSync(join(folder, path)))) continue;
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), after);
  }
}
