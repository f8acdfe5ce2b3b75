import type { Project } from '@twofold/schema';
import type { Sources } from '../files.ts';
import { type ClientOperation, readOperations } from './operations.ts';

/**
 * The documents of all front ends, as the list has them: those of the first front end come first.
 * They are not checked against the schema, because a comparison of two schemas needs the documents
 * that the newer one breaks. A front end whose documents cannot be read has none.
 *
 * @example liveDocuments(project, sources)[0].description // 'The newest posts.'
 */
export function liveDocuments(project: Project, sources: Sources): readonly ClientOperation[] {
  return (project.clients ?? []).flatMap(({ format }, at) => {
    const texts = sources.documents?.[at]?.texts ?? [];
    return readOperations(null, texts, { typenames: format === 'ast' }).operations;
  });
}
