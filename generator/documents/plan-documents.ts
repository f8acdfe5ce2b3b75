import { join } from 'node:path';
import type { Diagnostic, Project } from '@twofold/schema';
import { hasTools, renderTools, TOOLS_FILE } from '../../templates/owned/tools.ts';
import type { PlannedFile, Sources } from '../files.ts';
import type { Disk } from '../write/disk.ts';
import { LOCKFILE, parseLock } from '../write/lockfile.ts';
import { brokenEntries } from './broken-entries.ts';
import { clientFindings, placeOfClient } from './client-findings.ts';
import { filesOfClient, takenFiles } from './front-end.ts';
import { type AddedByProcess, addedHere, committedList } from './list-history.ts';
import { overLimits } from './limits.ts';
import { type Documents, readOperations } from './operations.ts';
import { servedSchema } from './served-schema.ts';
import { type NextList, nextList, parseList, printList, type TrustedList } from './trusted-list.ts';

/** How many documents the list has, and what a run does to it. */
export interface DocumentCounts {
  readonly live: number;
  readonly retired: number;
  readonly added: number;
  readonly removed: number;
}

/** The changes that `client:` adds to a run. */
export interface DocumentsPlan {
  readonly files: readonly PlannedFile[];
  readonly findings: readonly Diagnostic[];
  /** Null when a finding is an error. */
  readonly counts: DocumentCounts | null;
  /** The list after the run, and its path. */
  readonly list?: NextList & { readonly file: string };
  /** Hashes that runs in this folder added, after this one. */
  readonly addedHere: ReadonlySet<string>;
}

/** Plans the list, and the files of every front end. */
export async function planDocuments(
  project: Project,
  sources: Sources,
  { disk, added }: { readonly disk: Disk; readonly added: AddedByProcess },
): Promise<DocumentsPlan> {
  const read = readClients(project, sources);
  const file = project.api.trustedDocuments!.file;
  const text = await disk.read(join(sources.root, file));
  const before = parseList(text);
  const findings = [
    ...clientFindings(project, sources, read),
    ...(typeof before === 'string' ? [corrupt(file, before)] : []),
  ];
  if (typeof before === 'string' || findings.some(({ severity }) => severity === 'error'))
    return { files: [], findings, counts: null, addedHere: new Set() };
  const here = await addedHere(sources.root, disk, added);
  const next = await nextOf(liveList(read), { before, here, root: sources.root, file });
  const clients = await planClients(project, sources, { read, disk });
  return {
    files: [
      { path: file, owner: 'append', render: () => printList(next.list) },
      ...toolsOf(project, read),
      ...clients.files,
    ],
    findings: [
      ...findings,
      ...clients.findings,
      ...brokenEntries(servedSchema(project), next, { file, text }),
    ],
    counts: {
      live: next.live.length,
      retired: next.retired.length,
      added: next.added.length,
      removed: next.removed.length,
    },
    list: { ...next, file },
    // A hash that the list on disk still has stays recorded until the list is written, because this
    // run may be killed before.
    addedHere: new Set(
      [...here, ...next.added].filter((hash) => before.has(hash) || next.list.has(hash)),
    ),
  };
}

/** The documents that are tools. Retired documents stay in the list, but are never tools. */
function toolsOf(project: Project, read: readonly Documents[]): PlannedFile[] {
  if (!hasTools(project)) return [];
  const render = () => renderTools(read.flatMap(({ operations }) => operations));
  return [{ path: TOOLS_FILE, owner: 'generated', render }];
}

/** The files of all front ends. */
async function planClients(
  project: Project,
  sources: Sources,
  { read, disk }: { readonly read: readonly Documents[]; readonly disk: Disk },
): Promise<Pick<DocumentsPlan, 'files' | 'findings'>> {
  const lock = parseLock(await disk.read(join(sources.root, LOCKFILE)));
  const files: PlannedFile[] = [];
  const findings: Diagnostic[] = [];
  for (const [at, settings] of (project.clients ?? []).entries()) {
    const ending = sources.documents?.[at]?.ending ?? '';
    const own = filesOfClient(project, settings, { documents: read[at]!, ending });
    const place = () => placeOfClient(sources, at, 'out');
    findings.push(...(await takenFiles(sources.root, own, { disk, lock, at: place })));
    files.push(...own);
  }
  return { files, findings };
}

/** The documents of each front end, in the order of the manifest. */
function readClients(project: Project, { documents = [] }: Sources): Documents[] {
  const schema = servedSchema(project);
  return (project.clients ?? []).map(({ format }, at) => {
    const read = readOperations(schema, documents[at]?.texts ?? [], {
      typenames: format === 'ast',
    });
    return {
      ...read,
      findings: [...read.findings, ...overLimits(project, schema, read.operations)],
    };
  });
}

const liveList = (read: readonly Documents[]): TrustedList =>
  new Map(read.flatMap(({ operations }) => operations.map(({ hash, text }) => [hash, text])));

/** Git is asked only when an entry has lost its source. */
async function nextOf(
  live: TrustedList,
  {
    before,
    here,
    root,
    file,
  }: { before: TrustedList; here: ReadonlySet<string>; root: string; file: string },
): Promise<NextList> {
  const isAsked = [...before.keys()].some((hash) => !live.has(hash) && here.has(hash));
  const committed = isAsked ? await committedList(root, file) : new Map<string, string>();
  return nextList(live, {
    before,
    committed: new Set((committed ?? before).keys()),
    addedHere: here,
  });
}

function corrupt(file: string, problem: string): Diagnostic {
  return {
    code: 'DOCUMENTS_CORRUPT',
    severity: 'error',
    summary: `${file} is no list of documents: ${problem}`,
    why: 'a document that runs by a hash has to be the one that was checked under that hash',
    fix: `git checkout ${file}, which has the entries of the last commit; the next run adds the others`,
    at: { file, line: 1, column: 1, length: 1 },
  };
}
