import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Project } from '@twofold/schema';
import { getOperationAST, parse, type DocumentNode } from 'graphql';
import { parseList } from '../../documents/trusted-list.ts';
import { CommandError, EXIT } from '../../failure.ts';
import type { Sources } from '../../files.ts';
import type { Place } from '../change.ts';
import { readOperations, type ClientOperation } from '../../documents/operations.ts';

/** A document of the trusted list. */
export interface Recorded {
  readonly operation: string;
  readonly hash: string;
  readonly text: string;
  /** Null when the text is not GraphQL. */
  readonly document: DocumentNode | null;
  readonly retired: boolean;
  readonly at: Place;
}

/** Whether only documents of the list may run, everywhere or in production. */
export const isMandatory = ({ api }: Project): boolean => Boolean(api.trustedDocuments?.required);

/**
 * The documents of the list of a project; none without a list. Those of the front ends that the
 * folder has too have their place there, and the others are retired.
 *
 * @throws CommandError 3 when the file is no list.
 */
export function recordedDocuments(project: Project, sources: Sources): Recorded[] {
  const file = project.api.trustedDocuments?.file;
  const path = file === undefined ? null : resolve(sources.root, file);
  if (file === undefined || path === null || !existsSync(path)) return [];
  const text = readFileSync(path, 'utf8');
  const list = parseList(text);
  if (typeof list === 'string')
    throw new CommandError('DOCUMENTS_CORRUPT', {
      message: `${file} is no list of documents: ${list}`,
      fix: `git checkout ${file}`,
      exit: EXIT.invalid,
    });
  const hasSources = (sources.documents ?? []).some(({ texts }) => texts.length > 0);
  const live = new Map(
    hasSources ? liveDocuments(project, sources).map((each) => [each.hash, each]) : [],
  );
  return [...list].map(([hash, document]): Recorded => {
    const parsed = parsedOrNull(document);
    const line = text.slice(0, Math.max(0, text.indexOf(hash))).split('\n').length;
    const { at } = live.get(hash) ?? { at: { file, line, column: 3 } };
    return {
      operation: (parsed && getOperationAST(parsed)?.name?.value) ?? hash.slice(0, 12),
      hash,
      text: document,
      document: parsed,
      retired: hasSources && !live.has(hash),
      at: { file: at.file, line: at.line, column: at.column },
    };
  });
}

function parsedOrNull(text: string): DocumentNode | null {
  try {
    return parse(text, { noLocation: true });
  } catch {
    return null;
  }
}

/**
 * The documents of all front ends, as the list has them: those of the first front end come first.
 * They are not checked against the schema, because a comparison of two schemas needs the documents
 * that the newer one breaks. A front end whose documents cannot be read has none.
 *
 * @example liveDocuments(project, sources)[0].description // 'The newest posts.'
 */
function liveDocuments(project: Project, sources: Sources): readonly ClientOperation[] {
  return (project.clients ?? []).flatMap(({ format }, at) => {
    const texts = sources.documents?.[at]?.texts ?? [];
    return readOperations(null, texts, { typenames: format === 'ast' }).operations;
  });
}
