import { Kind, type OperationDefinitionNode, parse } from 'graphql';
import type { PreparedOperation } from '../graphql/document-cache.ts';

/** Operations of ours by their text, so that plans and statements are made once for each shape of a request. */
export type Documents = (text: string) => PreparedOperation;

/** How many are kept: a client that varies `fields` makes more of them. */
const ENTRIES = 500;

export function createDocuments(entries = ENTRIES): Documents {
  const kept = new Map<string, PreparedOperation>();
  return (text) => {
    const known = kept.get(text);
    if (known) {
      kept.delete(text);
      kept.set(text, known);
      return known;
    }
    const prepared = prepare(text);
    kept.set(text, prepared);
    if (kept.size > entries) kept.delete(kept.keys().next().value as string);
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
