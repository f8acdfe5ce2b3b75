import type { Diagnostic } from '@twofold/schema';

/**
 * How many fields the server answers, and those that answer NOT_IMPLEMENTED until the user writes
 * them.
 */
export interface AnsweredFields {
  readonly answered: number;
  /** Coordinates of the fields that the user has to write, in the schema's order. */
  readonly yours: readonly string[];
}

/** The number of fields that the line names; the rest are only counted. */
const NAMED = 5;

/** `42 fields answered, 3 yours to write: Query.search, Post.score, Mutation.pay` */
export function formatFields({ answered, yours }: AnsweredFields): string {
  const fields = `${answered} ${answered === 1 ? 'field' : 'fields'} answered`;
  if (yours.length === 0) return `${fields}, none yours to write`;
  const more = yours.length > NAMED ? ', …' : '';
  return `${fields}, ${yours.length} yours to write: ${yours.slice(0, NAMED).join(', ')}${more}`;
}

/** Removes the findings about functions that the user has written in the meantime. */
export function stillToWrite(
  findings: readonly Diagnostic[],
  written: ReadonlySet<string>,
): Diagnostic[] {
  return findings.filter(({ coordinate }) => coordinate === undefined || !written.has(coordinate));
}
