import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Diagnostic } from '@twofold/schema';
import { findMissingExports } from '../../missing-exports.ts';
import { findHookProblems } from '../../user-hooks.ts';
import { findJobProblems } from '../../user-jobs.ts';
import { placeInWorkTree, type Checkout } from '../base/checkout.ts';
import type { Change } from '../change.ts';
import type { Side } from '../side.ts';
import { compilerOf, typeErrors, type TypeError } from './type-errors.ts';
import { copySettings, copyTexts, levelsOf, linkPackages, writeGenerated } from './workspace.ts';

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
