/**
 * The model: what the two input files mean, as plain JSON.
 *
 * Every stage after `build` and every part of the runtime works from these shapes. They hold no
 * functions, no graphql-js objects and no file positions, so that `generate --print-model` can
 * print them, a test can write one by hand, and the emitted project can carry them as data.
 */

export type * from './model/project.ts';
export type * from './model/types.ts';
export type * from './model/entity.ts';
export type * from './model/condition.ts';
export type * from './model/lists.ts';
export type * from './model/operations.ts';
export type * from './model/access.ts';
export type * from './model/settings.ts';
