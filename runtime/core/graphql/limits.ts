/** Measures are in the schema package: the generator checks documents of front ends with them. */
export { checkMeasures, createMeasure, limitError } from '@twofold/schema';
export type { Fragments, Measures } from '@twofold/schema';
