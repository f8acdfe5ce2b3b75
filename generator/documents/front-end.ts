import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import type { ClientSettings, Diagnostic, Position, Project } from '@twofold/schema';
import { clientFiles } from '../../templates/client/index.ts';
import { jsonTypes } from '../../templates/client/json-types.ts';
import type { FrontEnd } from '../../templates/client/operation.ts';
import type { PlannedFile } from '../files.ts';
import type { Disk } from '../write/disk.ts';
import type { Lock } from '../write/lockfile.ts';
import type { DocumentText } from './document-text.ts';
import type { ImportEnding } from './import-ending.ts';
import type { Documents } from './operations.ts';
import { servedSchema } from './served-schema.ts';

const SOURCES = new URL('../../templates/client/source/', import.meta.url);

/** The text of a module that the client of a front end is made of. */
export const clientSource = (name: string): string =>
  readFileSync(new URL(`${name}.ts`, SOURCES), 'utf8').replaceAll('\r\n', '\n');

/** The files that `out` of a front end gets. */
export function filesOfClient(
  project: Project,
  settings: ClientSettings,
  { documents, ending }: { readonly documents: Documents; readonly ending: ImportEnding },
): PlannedFile[] {
  const given = frontEndOf(project, settings, { documents, ending });
  return Object.entries(clientFiles).map(([name, render]) => ({
    path: posix.join(settings.out, name),
    owner: 'generated',
    render: () => render(given),
  }));
}

function frontEndOf(
  project: Project,
  { format, send, scalars, imports }: ClientSettings,
  { documents, ending }: { readonly documents: Documents; readonly ending: ImportEnding },
): FrontEnd {
  const inCode = firstInCode(documents);
  return {
    schema: servedSchema(project),
    operations: documents.operations.map((each) => ({ ...each, inCode: inCode(each) })),
    fragments: documents.fragments.map((each) => ({ ...each, inCode: inCode(each) })),
    format,
    send,
    scalars: jsonTypes(project, scalars),
    ending: imports === 'auto' ? ending : imports === 'none' ? '' : imports,
    server: {
      graphql: project.api.path,
      delivery: project.auth ? project.auth.refresh.delivery : null,
    },
    source: clientSource,
  };
}

/**
 * The text in code that is the argument of `graphql()`. If a text has several documents, it belongs
 * to the first operation, or to the first fragment.
 */
function firstInCode({ operations, fragments }: Documents) {
  const first = new Map<DocumentText, unknown>();
  for (const all of [operations, fragments])
    for (const each of all.toSorted((a, b) => a.at.line - b.at.line || a.at.column - b.at.column))
      if (each.source.inCode && !first.has(each.source)) first.set(each.source, each);
  return (document: { readonly source: DocumentText }): string | null =>
    first.get(document.source) === document ? document.source.text : null;
}

/** CLIENT_OUT_TAKEN: existing files that no run wrote. */
export async function takenFiles(
  root: string,
  files: readonly PlannedFile[],
  { disk, lock, at }: { readonly disk: Disk; readonly lock: Lock; readonly at: () => Position },
): Promise<Diagnostic[]> {
  const taken: Diagnostic[] = [];
  for (const { path, render } of files) {
    if (lock.has(path)) continue;
    const text = await disk.read(join(root, path));
    if (text !== null && text.replaceAll('\r\n', '\n') !== (await render()))
      taken.push(outTaken(path, at()));
  }
  return taken;
}

const outTaken = (path: string, at: Position): Diagnostic => ({
  code: 'CLIENT_OUT_TAKEN',
  severity: 'error',
  summary: `${path} is there, and not ours`,
  why: 'a run overwrites only what a run wrote',
  fix: 'name a folder of its own as out, or move the file',
  at,
});
