export {
  aggregate,
  caller,
  count,
  create,
  createMany,
  custom,
  exists,
  searchHighlight,
  searchRank,
  get,
  groups,
  list,
  listAbstract,
  many,
  node,
  nodes,
  one,
  remove,
  removeMany,
  subscribe,
  through,
  update,
  updateMany,
  upsert,
  viaType,
} from './fields.ts';
export type { FieldTable } from './fields.ts';
export type { Model } from './compact.ts';
export { defineProject } from './define-project.ts';
export { loadMany, loadOne } from './loaders.ts';
export type { LoadersOf, RowLoader } from './loaders.ts';
export { duration, size } from './units.ts';
