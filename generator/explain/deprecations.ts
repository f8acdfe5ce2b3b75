import { sunsetOf, type Project } from '@twofold/schema';
import { isInterfaceType, isObjectType, type GraphQLSchema } from 'graphql';
import { usageOf } from '../breaking/documents/usage.ts';
import { recordedDocuments } from '../breaking/documents/recorded.ts';
import { validFor, servedSchema } from '../documents/served-schema.ts';
import type { Sources } from '../files.ts';

/** What `explain` says of a field that is going to be removed. */
export interface Deprecation {
  readonly deprecated: string;
  /** The day of the removal, as in `2027-03-01`; null when the reason has none. */
  readonly sunset: string | null;
  /** The documents of the trusted list that ask for the field. */
  readonly usedBy: readonly DocumentPlace[];
}

export interface DocumentPlace {
  readonly operation: string;
  /** The file and line, as `web/posts.graphql:3`. */
  readonly at: string;
  readonly retired: boolean;
}

/**
 * The deprecated fields among some coordinates. Documents are read only if there is one.
 *
 * @throws CommandError 3 when the file of the list is no list.
 */
export function deprecationsOf(
  project: Project,
  sources: Sources,
  coordinates: readonly string[],
): ReadonlyMap<string, Deprecation> {
  const schema = servedSchema(project);
  const reasons = coordinates.flatMap((coordinate) => {
    const reason = reasonOf(schema, coordinate);
    return reason === null ? [] : [{ coordinate, reason }];
  });
  if (reasons.length === 0) return new Map();
  const users = recordedDocuments(project, sources).flatMap(({ document, ...recorded }) =>
    document && validFor(schema, document)
      ? [{ ...recorded, named: usageOf(document, schema).named }]
      : [],
  );
  return new Map(
    reasons.map(({ coordinate, reason }) => [
      coordinate,
      {
        deprecated: reason,
        sunset: sunsetOf(reason),
        usedBy: users
          .filter(({ named }) => named.has(coordinate))
          .map(({ operation, at, retired }) => ({
            operation,
            at: `${at.file}:${at.line}`,
            retired,
          })),
      },
    ]),
  );
}

function reasonOf(schema: GraphQLSchema, coordinate: string): string | null {
  const [owner = '', field = ''] = coordinate.split('.');
  const type = schema.getType(owner);
  if (!isObjectType(type) && !isInterfaceType(type)) return null;
  return type.getFields()[field]?.deprecationReason ?? null;
}
