import { limitError } from '../limits.ts';

/** How many fields an operation may still have planned. */
export interface FieldBudget {
  /** @throws GraphQLError `TOO_COSTLY` when they are too many. */
  spend(fields: number): void;
}

/** A plan of as many takes some 20 ms to make and a megabyte to keep. */
const MOST = 10_000;

/**
 * What a document asks for is counted before it is planned; but where an object may be of several types, what is selected of it
 * is planned for each of them, and again for each below.
 *
 * @example createFieldBudget().spend(10_001) // throws
 */
export function createFieldBudget(most = MOST): FieldBudget {
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
