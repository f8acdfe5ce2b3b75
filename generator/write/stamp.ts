import { createHash } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import type { Diagnostic } from '@twofold/schema';
import type { AnsweredFields } from '../answered-fields.ts';
import type { DocumentCounts, DocumentsPlan } from '../documents/plan-documents.ts';
import { FOLDER, type FileChange, type Sources } from '../files.ts';
import { isCheckout, packageVersion } from '../version.ts';
import { readSources } from '../read.ts';
import type { Disk } from './disk.ts';
import { hashText, LOCKFILE, parseLock } from './lockfile.ts';

/**
 * The record of a run that had nothing to do: its inputs and the files on disk. It is kept only on
 * this machine. The next run over the same inputs and files finds in a few milliseconds that it has
 * nothing to do either.
 */
export interface Stamp {
  readonly inputs: string;
  /** Path → hash of the text, or null for a file that does not exist. */
  readonly files: Readonly<Record<string, string | null>>;
  /** Warnings and hints of that run: warnings are shown again, hints are only counted. */
  readonly findings: readonly Diagnostic[];
  readonly fields: AnsweredFields | null;
  /** Counts of the trusted documents; absent without `client:`. */
  readonly documents?: DocumentCounts;
}

const STAMP = `${FOLDER}/stamp.json`;

/** The findings of the last recorded run, even if the inputs have changed since. */
export async function lastFindings(root: string, disk: Disk): Promise<readonly Diagnostic[]> {
  return parseStamp(await disk.read(join(root, STAMP)))?.findings ?? [];
}

/**
 * The record of the last run if this run has nothing to do either; null when a whole run is
 * necessary.
 */
export async function findStamp(
  sources: Sources,
  disk: Disk,
): Promise<Pick<Stamp, 'findings' | 'fields' | 'documents'> | null> {
  const stamp = parseStamp(await disk.read(join(sources.root, STAMP)));
  if (!stamp || stamp.inputs !== hashInputs(sources)) return null;
  const paths = Object.keys(stamp.files);
  const hashes = await Promise.all(
    paths.map(async (path) => hash(await disk.read(join(sources.root, path)))),
  );
  return paths.every((path, at) => stamp.files[path] === hashes[at]) ? stamp : null;
}

/**
 * Records that these inputs gave these files. Files that the run itself added (a migration) are
 * inputs of the next run and read again; if anything else changed in the meantime, nothing is
 * recorded.
 */
export async function writeStamp(
  { sources, changes, findings, fields, documents, codegenCache }: Ran,
  disk: Disk,
): Promise<void> {
  // Plugins of `codegen:` have inputs that are no sources: packages, and files of the user.
  if (codegenCache !== undefined) return;
  // A run without the front end did not look at its files.
  if (changes.some(({ kind }) => kind === 'stale') || (sources.documents && !documents)) return;
  const now = await readSources(sources.root);
  if (
    !isDeepStrictEqual(
      { ...now, migrations: [], lockedMigrations: [] },
      { ...sources, migrations: [], lockedMigrations: [] },
    )
  )
    return;
  // Most hashes are in the lockfile that this run has written.
  const lock = parseLock(changes.find(({ path }) => path === LOCKFILE)?.after ?? null);
  const known = (path: string, text: string | null) =>
    lock.get(path)?.owner === 'generated' && text !== null
      ? lock.get(path)!.hashes[0]!
      : hash(text);
  const files = Object.fromEntries(
    changes.map(({ path, before, after, kind }) => [
      path,
      known(path, kind === 'same' ? before : after),
    ]),
  );
  const lasting = findings.filter(({ code }) => !FINDINGS_OF_ONE_RUN.has(code));
  const text = JSON.stringify({
    inputs: hashInputs(now),
    files,
    findings: lasting,
    fields,
    ...(documents?.counts && { documents: { ...documents.counts, added: 0, removed: 0 } }),
  } satisfies Stamp);
  const path = join(sources.root, STAMP);
  if ((await disk.read(path)) !== text) await disk.write(path, text);
}

interface Ran {
  readonly codegenCache?: string;
  readonly documents?: Pick<DocumentsPlan, 'counts'>;
  readonly sources: Sources;
  readonly changes: readonly FileChange[];
  readonly findings: readonly Diagnostic[];
  readonly fields: AnsweredFields | null;
}

/**
 * Findings about this run only: the next run, with the migration written and other options, does
 * not have them.
 */
const FINDINGS_OF_ONE_RUN: ReadonlySet<string> = new Set([
  'MIGRATION_NEEDS_VALUE',
  'MIGRATION_CHECKS_ROWS',
  'DROP_UNKNOWN',
]);

function parseStamp(text: string | null): Stamp | null {
  try {
    return text === null ? null : (JSON.parse(text) as Stamp);
  } catch {
    return null;
  }
}

function hashInputs({ root: _root, problems: _problems, ...sources }: Sources): string {
  return createHash('sha256')
    .update(JSON.stringify([packageVersion(), isCheckout() ? codeFingerprint() : '', sources]))
    .digest('hex');
}

/**
 * A hash that ignores line ends, as the lockfile does, so that they do not make a run necessary.
 */
function hash(text: string | null): string | null {
  return text === null ? null : hashText(text);
}

/** In the repository the generator itself changes between two runs. */
function codeFingerprint(): string {
  const repo = fileURLToPath(new URL('../../', import.meta.url));
  const folders = ['generator', 'templates', 'schema'].map((folder) => join(repo, folder));
  return JSON.stringify(
    folders.flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(
        (name) => statSync(join(folder, name)).mtimeMs,
      ),
    ),
  );
}
