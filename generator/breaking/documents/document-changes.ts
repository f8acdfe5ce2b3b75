import type { GraphQLSchema } from 'graphql';
import { usedBy } from '../api/api-changes.ts';
import type { Change } from '../change.ts';
import type { Recorded } from './recorded.ts';
import { firstMistake } from './valid.ts';

interface Compared {
  readonly base: { readonly schema: GraphQLSchema; readonly documents: readonly Recorded[] };
  readonly head: { readonly schema: GraphQLSchema; readonly documents: readonly Recorded[] };
}

/** Documents of the base's or the head's list that the schema no longer allows. */
export function documentChanges({ base, head }: Compared): Change[] {
  const known = new Set(base.documents.map(({ hash }) => hash));
  return bothLists(base.documents, head.documents).flatMap((recorded): Change[] => {
    const { document, operation, at } = recorded;
    if (!document) return [];
    const mistake = firstMistake(head.schema, document);
    // A document that never was valid is not broken by this change. `check` reports it.
    if (!mistake || (known.has(recorded.hash) && firstMistake(base.schema, document))) return [];
    return [
      {
        class: 'documents',
        level: 'breaking',
        code: 'DOCUMENT_BROKEN',
        coordinate: operation,
        message: `${operation} is no longer valid: ${mistake.message}`,
        fix: 'keep what it asks for until no client sends it',
        at,
        usedBy: [usedBy(recorded)],
      },
    ];
  });
}

/** The documents of both lists, each once; that of the folder counts. */
export function bothLists(base: readonly Recorded[], head: readonly Recorded[]): Recorded[] {
  return [...new Map([...base, ...head].map((each) => [each.hash, each])).values()];
}
