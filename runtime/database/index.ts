/** What changes or moves a database. The command line calls it, and a server that has something to apply. */
export { adoptDatabase } from './adopted/adopt-database.ts';
export type * from './catalog/catalog.ts';
export { catalogOfDatabase } from './catalog-of-database.ts';
export { foresee, type Foreseen, type Foresight } from './foresee.ts';
export type { StepDone } from './migrations/commands.ts';
export type { Drift } from './migrations/drift.ts';
export type { PlanStep } from './plan/plan-step.ts';
export { migrationReport } from './prepare.ts';
export type { MarkedLine } from './transfer/backup-stream.ts';
export { openDatabase } from './open-database.ts';
export { prepare } from './prepare.ts';
export { makeTableChanges } from './tables/alter-table.ts';
export { createSearchIndex, dropSearchIndex } from './tables/create-search-index.ts';
export { createFoldedIndex } from './tables/folded-index.ts';
