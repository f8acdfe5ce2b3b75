/**
 * `@twofold/runtime/data`: the parts of the data layer with which `@twofold/database` writes the rows
 * of a seed, and reads those of tables that other programs made.
 */
export { type Access, type Rules, UNRESTRICTED } from './access/access.ts';
export { type EntityModel, indexModel, type Model } from './model.ts';
export { attachScalars } from './scalars/attach.ts';
export { coerceValue, givenValue } from './scalars/coerce-value.ts';
export { type GivenValues, type SeedValues, seedValuesOf } from './seed-values.ts';
export { joinSql, name, sql } from './sql/fragment.ts';
export { reference } from './sql/scope.ts';
export { timeFormOf } from './sql/time-form.ts';
export { assertConstraint } from './write/constraint.ts';
export { toFailure } from './write/database-failure.ts';
export { NONE } from './write/made-rows.ts';
export { hasHook } from './write/row-hooks.ts';
export { createFrom, updateFrom } from './write/write-input.ts';
export { run, tableOf, valueOf, type Writing } from './write/writer.ts';
export { hooksOf, startWriting } from './write/writing.ts';
