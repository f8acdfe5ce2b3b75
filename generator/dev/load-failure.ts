import { readFileSync } from 'node:fs';
import { basename, isAbsolute, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Diagnostic, SourceText } from '@twofold/schema';
import { missingExport } from '../missing-exports.ts';

/** An error of Node's module loader, as `wait.js` sends it. */
export interface LoadFailure {
  readonly code?: string | undefined;
  readonly message: string;
  readonly stack: string;
}

/** A finding, and the source text that it is about. */
export interface ExplainedFailure {
  readonly finding: Diagnostic;
  readonly source: SourceText;
}

/**
 * The finding for a file that Node could not load, with its line; null when the failure is in no
 * file of the project.
 */
export function explainLoadFailure(root: string, failure: LoadFailure): ExplainedFailure | null {
  return (
    explainMissingExport(root, failure) ??
    explainMissingModule(root, failure) ??
    explainSyntax(root, failure)
  );
}

/**
 * `'../routes.ts' does not provide an export named 'routes'`: Node reports the line of the import,
 * but the mistake is in the imported file.
 */
function explainMissingExport(root: string, failure: LoadFailure): ExplainedFailure | null {
  const [, specifier = '', name = ''] =
    /requested module '(.+?)' does not provide an export named '(.+?)'/.exec(failure.message) ?? [];
  const importer = frameOf(root, failure.stack);
  if (!importer || !specifier.startsWith('.')) return null;
  const source = sourceAt(root, join(root, importer.file, '..', specifier));
  if (!source) return null;
  const finding = missingExport(source, name, `${importer.file}:${importer.line} imports it`);
  return { finding: { ...finding, severity: 'error' }, source };
}

function explainMissingModule(root: string, { message }: LoadFailure): ExplainedFailure | null {
  const [, kind, wanted = '', importer = ''] =
    /^Cannot find (module|package) '(.+?)' imported from (.+)$/m.exec(message) ?? [];
  const source = sourceAt(root, importer);
  if (!source) return null;
  const isPackage = kind === 'package';
  const found = isPackage ? wanted : relative(root, wanted).replaceAll('\\', '/');
  const finding = {
    code: 'IMPORT_NOT_FOUND',
    severity: 'error',
    summary: `${source.file} imports ${found}, which is not there`,
    fix: isPackage ? `npm install ${wanted}` : 'correct the path; it ends with .ts',
    at: placeOf(source, isPackage ? wanted : basename(wanted)),
  } as const;
  return { finding, source };
}

function explainSyntax(root: string, failure: LoadFailure): ExplainedFailure | null {
  const frame = frameOf(root, failure.stack);
  const source = frame && sourceAt(root, join(root, frame.file));
  if (!source) return null;
  const isUnsupported = failure.code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX';
  const finding = {
    code: isUnsupported ? 'SYNTAX_UNSUPPORTED' : 'SYNTAX_ERROR',
    severity: 'error',
    summary: failure.message.split('\n')[0] ?? '',
    why: isUnsupported
      ? 'Node takes the types out of a file and runs what is left: it makes no code of enums, namespaces and parameter properties'
      : 'Node cannot read the file, so the server does not start',
    fix: isUnsupported
      ? 'write it in JavaScript with types: an object with `as const` for an enum, a field for a parameter property'
      : 'mend the line and save; npm run typecheck shows every mistake of this kind',
    at: frame,
  } as const;
  return { finding, source };
}

/**
 * The place of the error, which Node prints before the stack:
 *
 *     file:///…/src/routes.ts:3
 *       name: (
 *             ^
 */
function frameOf(root: string, stack: string): Diagnostic['at'] | null {
  const [, url = '', line = ''] = /^(file:\/\/.+):(\d+)$/m.exec(stack) ?? [];
  const [, indent = '', carets = ''] = /^([ \t]*)(\^+)[ \t]*$/m.exec(stack) ?? [];
  const file = url === '' ? null : inProject(root, fileURLToPath(url));
  if (file === null) return null;
  return { file, line: Number(line), column: indent.length + 1, length: carets.length || 1 };
}

function sourceAt(root: string, path: string): SourceText | null {
  const file = inProject(root, path);
  if (file === null) return null;
  try {
    return { file, text: readFileSync(join(root, file), 'utf8') };
  } catch {
    return null;
  }
}

/** The path with forward slashes, if it is one of the project's own. */
function inProject(root: string, path: string): string | null {
  const file = relative(root, path).replaceAll('\\', '/');
  return file === '' || file.startsWith('..') || isAbsolute(file) ? null : file;
}

/** The first line of the file that contains the name. */
function placeOf({ file, text }: SourceText, name: string): Diagnostic['at'] {
  const lines = text.split('\n');
  const index = Math.max(
    0,
    lines.findIndex((line) => line.includes(name)),
  );
  const column = Math.max(0, lines[index]?.indexOf(name) ?? 0) + 1;
  return { file, line: index + 1, column, length: name.length };
}
