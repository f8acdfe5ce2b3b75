import { limitError } from '../limits.ts';

/** The number of fields that may still be planned for an operation. */
export interface FieldBudget {
  /** @throws GraphQLError `TOO_COSTLY` when the budget is exceeded. */
  spend(fields: number): void;
}

/** A plan of this size takes some 20 ms to make and a megabyte to keep. */
const MAX_FIELDS = 10_000;

/**
 * Limits the fields of a plan. The fields of a document are counted before planning, but the
 * selection of an abstract type is planned for each of its members, and so again at each nested
 * level.
 *
 * @example createFieldBudget().spend(10_001) // throws
 */
export function createFieldBudget(most = MAX_FIELDS): FieldBudget {
  let spent = 0;
  return {
    spend: (fields) => {
      spent += fields;
      if (spent > most)
        throw limitError(
          'TOO_COSTLY',
          `the operation asks for more than ${most} fields, counted for each type that an object may have`,
          { value: spent, limit: most },
        );
    },
  };
}
