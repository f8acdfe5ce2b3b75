import { type Diagnostic, parseManifest, type Position, type Project } from '@twofold/schema';
import type { Sources } from '../files.ts';
import type { Documents } from './operations.ts';
import { isInWorkTree, workTreeOf } from '../write/work-tree.ts';

/** Every finding about the front ends: their settings, their files and their documents. */
export function clientFindings(
  project: Project,
  sources: Sources,
  read: readonly Documents[],
): Diagnostic[] {
  const findings = (project.clients ?? []).flatMap((_, at) => [
    ...settingFindings(project, sources, at),
    ...(sources.documents?.[at]?.problems ?? []),
    ...(read[at]?.findings ?? []),
  ]);
  const { file } = project.api.trustedDocuments!;
  if (!isInside(file))
    findings.push(
      outside(
        `api.trusted_documents.file: ${file} is not in the project`,
        placeOf(sources, ['api', 'trusted_documents', 'file']),
        'documents.json',
      ),
    );
  return findings;
}

/** The list goes into the image, which has only the project's own folder. */
const isInside = (path: string) => !/^([/\\]|[a-z]:)|(^|[/\\])\.\.([/\\]|$)/i.test(path);

function settingFindings(project: Project, sources: Sources, at: number): Diagnostic[] {
  const { documents, out } = project.clients![at]!;
  const { unmatched = [], outside: beyond = [] } = sources.documents?.[at] ?? {};
  const place = (...path: (string | number)[]) => placeOfClient(sources, at, ...path);
  return [
    ...(isInWorkTree(sources.root, out) ? [] : [outsideTree(sources.root, out, place('out'))]),
    ...beyond.map((glob) => outsideTree(sources.root, documents[glob]!, place('documents', glob))),
    ...unmatched.map((glob) => noDocuments(documents[glob]!, place('documents', glob))),
  ];
}

function noDocuments(glob: string, at: Position): Diagnostic {
  return {
    code: 'CLIENT_NO_DOCUMENTS',
    severity: 'error',
    summary: `${glob} matches no file`,
    why: 'the documents of a folder that is not there would leave the client and the list',
    fix: 'correct the path, which begins in the folder of the manifest; on a machine without the front end: --no-client',
    at,
  };
}

function outsideTree(root: string, path: string, at: Position): Diagnostic {
  const where = workTreeOf(root).git
    ? 'the git work tree'
    : 'the project, which is in no git work tree';
  return outside(`${path} is outside ${where}`, at, '../web/src/api/');
}

function outside(summary: string, at: Position, fix: string): Diagnostic {
  return {
    code: 'CLIENT_OUT_OUTSIDE',
    severity: 'error',
    summary,
    why: 'a run reads and writes only what is versioned together with the project; links are resolved',
    fix,
    at,
  };
}

/** The place of a key of one front end. */
export function placeOfClient(
  sources: Sources,
  at: number,
  ...path: (string | number)[]
): Position {
  return placeOf(sources, ['client', ...(isList(sources) ? [at] : []), ...path]);
}

/** The manifest is parsed for a place only when there is something to report. */
function placeOf({ manifest }: Sources, path: readonly (string | number)[]): Position {
  return parseManifest(manifest).manifest.at(path, 'value');
}

function isList({ manifest }: Sources): boolean {
  return Array.isArray(parseManifest(manifest).manifest.written['client']);
}
