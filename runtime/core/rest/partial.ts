import { GraphQLError } from 'graphql';
import { AppError } from '../errors.ts';
import { formatError, type Audience } from '../graphql/errors.ts';
import { failureOf } from './failures.ts';

/**
 * Removes failed fields from an answer, so that the other fields are kept and null always means
 * null. A refusal is not a failure.
 *
 * @returns the path of the failed field, `author.shout`; undefined for one that the caller may not
 * read.
 * @throws AppError when the whole answer failed, the resolver is not written yet, or the server has
 * a problem.
 */
export function dropFailed(
  data: unknown,
  error: GraphQLError,
  audience: Audience,
): string | undefined {
  const thrown = failureOf(error);
  const path = error.path ?? [];
  const refused = thrown instanceof AppError && (thrown.status === 401 || thrown.status === 403);
  if (
    path.length < 2 ||
    (thrown instanceof AppError && (thrown.status === 501 || thrown.status === 503))
  )
    throw thrown;
  if (!remove(data, path)) throw thrown;
  if (refused) return undefined;
  formatError(error, audience);
  return placeOf(path);
}

/** Keys around the rows of an answer, which are not part of a reported path. */
const WRAPPERS: ReadonlySet<unknown> = new Set(['data', 'nodes', 'edges', 'node', 'object']);

/** The path without list indexes. The log names the row. */
function placeOf(path: readonly (string | number)[]): string {
  const names = path.slice(1).filter((step) => typeof step === 'string');
  while (names.length > 1 && WRAPPERS.has(names[0])) names.shift();
  return names.join('.');
}

/** Removes the member that became null; false when that is the whole answer. */
function remove(data: unknown, path: readonly (string | number)[]): boolean {
  let parent = data;
  for (const step of path) {
    if (typeof parent !== 'object' || parent === null || !(step in parent)) return true;
    const value = (parent as Record<string | number, unknown>)[step];
    // In a list the null stays, so that the other items keep their index.
    if (value === null)
      return (
        Array.isArray(parent) ||
        (parent !== data && delete (parent as Record<string | number, unknown>)[step])
      );
    parent = value;
  }
  return true;
}
