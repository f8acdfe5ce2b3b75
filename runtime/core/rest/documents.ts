import { Kind, type OperationDefinitionNode, parse } from 'graphql';
import type { PreparedOperation } from '../graphql/document-cache.ts';
import { createBoundedCache } from '../store/bounded-cache.ts';

/** Operations of ours by their text, so that plans and statements are made once for each shape of a request. */
export type Documents = (text: string) => PreparedOperation;

/** A client that varies `fields` makes more of them. Their plans weigh more than their texts, so the number decides. */
const ENTRIES = 500;

export function createDocuments(entries = ENTRIES): Documents {
  const kept = createBoundedCache<PreparedOperation>({ entries, bytes: Infinity });
  return (text) => {
    const known = kept.get(text);
    if (known) return known;
    const prepared = prepare(text);
    kept.set(text, prepared, text.length);
    return prepared;
  };
}

/** What we wrote ourselves needs no validation. */
function prepare(text: string): PreparedOperation {
  const document = parse(text, { noLocation: false });
  const node = document.definitions.find(
    (definition): definition is OperationDefinitionNode =>
      definition.kind === Kind.OPERATION_DEFINITION,
  ) as OperationDefinitionNode;
  return { document, node, fragments: new Map(), conditions: [], plans: new Map() };
}
