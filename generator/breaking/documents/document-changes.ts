import type { Project } from '@twofold/schema';
import { type DocumentNode, getOperationAST, type GraphQLSchema, Kind } from 'graphql';
import { limitProblem } from '../../documents/limits.ts';
import { usedBy } from '../api/api-changes.ts';
import type { Change } from '../change.ts';
import type { Recorded } from './recorded.ts';
import { firstMistake } from '../../documents/served-schema.ts';

/** A schema, its limits, and the documents of its list. */
interface Served {
  readonly project: Project;
  readonly schema: GraphQLSchema;
  readonly documents: readonly Recorded[];
}

interface Compared {
  readonly base: Served;
  readonly head: Served;
}

/** Documents of the base's or the head's list that the schema, or a limit, no longer allows. */
export function documentChanges({ base, head }: Compared): Change[] {
  const known = new Set(base.documents.map(({ hash }) => hash));
  return bothLists(base.documents, head.documents).flatMap((recorded): Change[] => {
    const { document } = recorded;
    const refused = document && refusal(head, recorded, document);
    // A document that never ran is not broken by this change. `check` reports it.
    if (!refused || (known.has(recorded.hash) && refusal(base, recorded, document))) return [];
    return [changeOf(recorded, refused)];
  });
}

type Refusal = Pick<Change, 'code' | 'message' | 'fix'>;

/** Why a side does not run a document; null if it does. */
function refusal(
  { project, schema }: Served,
  { operation, text }: Recorded,
  document: DocumentNode,
): Refusal | null {
  const mistake = firstMistake(schema, document);
  if (mistake)
    return {
      code: 'DOCUMENT_BROKEN',
      message: `${operation} is no longer valid: ${mistake.message}`,
      fix: 'keep what it asks for until no client sends it',
    };
  const node = getOperationAST(document);
  const fragments = document.definitions.filter((each) => each.kind === Kind.FRAGMENT_DEFINITION);
  const problem = node && limitProblem(project, schema, { node, fragments, text });
  return problem === null
    ? null
    : {
        code: 'DOCUMENT_OVER_LIMIT',
        message: `${operation} is refused from now on: ${problem}`,
        fix: 'keep the limit under api.limits until no client sends it',
      };
}

const changeOf = (recorded: Recorded, refused: Refusal): Change => ({
  class: 'documents',
  level: 'breaking',
  coordinate: recorded.operation,
  ...refused,
  at: recorded.at,
  usedBy: [usedBy(recorded)],
});

/** The documents of both lists, each once; that of the folder counts. */
export function bothLists(base: readonly Recorded[], head: readonly Recorded[]): Recorded[] {
  return [...new Map([...base, ...head].map((each) => [each.hash, each])).values()];
}
