import { lookUp } from '@twofold/schema';
import type { Diagnostic } from '@twofold/schema';
import { GraphQLError, type GraphQLSchema, parse, validate } from 'graphql';
import type { NextList } from './trusted-list.ts';

/**
 * The findings DOCUMENT_BROKEN: for entries without a source, which the schema no longer allows.
 */
export function brokenEntries(
  schema: GraphQLSchema,
  { list, retired }: NextList,
  { file, text }: { readonly file: string; readonly text: string | null },
): Diagnostic[] {
  return retired.flatMap((hash): Diagnostic[] => {
    const document = lookUp(list, hash);
    const problem = problemOf(schema, document);
    if (problem === null) return [];
    return [
      {
        code: 'DOCUMENT_BROKEN',
        severity: 'warning',
        summary: `${nameOf(document)} no longer runs: ${problem}`,
        why: 'it has no source any more, but clients that are out there may still send its hash',
        fix: `bring back what it asks for, or remove it:\ngenerator prune --documents`,
        at: placeOf(hash, file, text ?? ''),
      },
    ];
  });
}

function problemOf(schema: GraphQLSchema, text: string): string | null {
  try {
    return validate(schema, parse(text))[0]?.message ?? null;
  } catch (error) {
    if (error instanceof GraphQLError) return error.message;
    throw error;
  }
}

/** `query Posts`, or what comes close to it in a text that does not parse. */
export function nameOf(text: string): string {
  return (
    /(query|mutation|subscription|fragment)\s+\w+/.exec(text)?.[0] ?? 'a document without a name'
  );
}

function placeOf(hash: string, file: string, text: string) {
  const line = text.slice(0, Math.max(0, text.indexOf(hash))).split('\n').length;
  return { file, line, column: 3, length: hash.length + 2 };
}
