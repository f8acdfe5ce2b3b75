import { CRUD_FILE, type Project, type ProjectInput, type SourceText } from '@twofold/schema';
import { buildASTSchema, parse, type DocumentNode, type GraphQLSchema } from 'graphql';
import { readFileSync } from 'node:fs';
import { formatFindings, createPaint } from '../report.ts';
import { CommandError, EXIT } from '../failure.ts';
import type { Sources } from '../files.ts';
import { hasErrors, readProjectOf } from '../read-project.ts';
import { placesOf, type Places } from './api/places.ts';
import { isMandatory, recordedDocuments, type Recorded } from './documents/recorded.ts';

/** The served schema of one side. */
export interface ServedSchema {
  readonly sdl: DocumentNode;
  readonly schema: GraphQLSchema;
  readonly places: Places;
}

/** A whole project of one side: the folder, or the base. */
export interface Side extends ServedSchema {
  readonly root: string;
  readonly sources: Sources;
  readonly project: Project;
  readonly documents: readonly Recorded[];
  /** Whether the documents are all the callers. */
  readonly mandatory: boolean;
}

/** What both sides have in common is read once (`createKnown`). */
export type KnownSide = NonNullable<ProjectInput['known']>;

/**
 * Reads a project. `name` says which side it is.
 *
 * @throws CommandError 3 when its files have errors.
 */
export async function readSide(root: string, name: string, known: KnownSide): Promise<Side> {
  const { project, sources, findings } = await readProjectOf(root, { known });
  if (!project || hasErrors(findings)) {
    const errors = findings.filter(({ severity }) => severity === 'error');
    const texts = [...sources.schema, ...(sources.manifest ? [sources.manifest] : [])];
    throw new CommandError('SIDE_INVALID', {
      message: `${name} has errors\n${formatFindings(errors, texts, createPaint(false)).join('\n')}`,
      fix: 'correct them, or compare with another revision: --against REF',
      exit: EXIT.invalid,
      details: { side: name, findings: errors },
    });
  }
  return {
    root,
    sources,
    project,
    ...servedBy(project.sdl, [
      ...sources.schema,
      ...(project.crudSdl ? [{ file: CRUD_FILE, text: project.crudSdl }] : []),
    ]),
    documents: recordedDocuments(project, { ...sources, root }),
    mandatory: isMandatory(project),
  };
}

/**
 * Reads an SDL file.
 *
 * @throws CommandError 3 when it is not a schema.
 */
export function readSdl(path: string, file: string): ServedSchema {
  try {
    const text = readFileSync(path, 'utf8');
    return servedBy(text, [{ file, text }]);
  } catch (error) {
    throw new CommandError('SIDE_INVALID', {
      message: `${file} is no schema: ${error instanceof Error ? error.message : String(error)}`,
      exit: EXIT.invalid,
    });
  }
}

function servedBy(text: string, sources: readonly SourceText[]): ServedSchema {
  const sdl = parse(text, { noLocation: true });
  return { sdl, schema: buildASTSchema(sdl, { assumeValidSDL: true }), places: placesOf(sources) };
}
