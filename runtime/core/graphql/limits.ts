/** Measures are in the schema package: the generator checks documents of front ends with them. */
export { checkCost, checkMeasures, costOf, createMeasure, limitError } from '@twofold/schema';
export type { Fragments, Measures } from '@twofold/schema';
