import type { EntityFact, Facts } from '../build/facts.ts';
import { CRUD_OPERATIONS, type CrudOperation } from '../directives/crud.ts';

/** The operations that `api.crud: true` adds, and `@crud` without a list of operations. */
const USUAL: readonly CrudOperation[] = [
  'GET',
  'LIST',
  'CONNECTION',
  'AGGREGATE',
  'CREATE',
  'UPDATE',
  'DELETE',
];

/**
 * The operations that are written for an entity: those of its `@crud`, else those of the manifest.
 *
 * @example
 * crudOperations(facts, post).has('LIST') // true
 */
export function crudOperations(
  { manifest }: Facts,
  { directives: { crud }, key }: EntityFact,
): ReadonlySet<CrudOperation> {
  const general = manifest.values.api.crud;
  const listed = typeof general === 'boolean' ? USUAL : general;
  const written = crud ? (crud.operations ?? listed) : general === false ? [] : listed;
  return new Set(CRUD_OPERATIONS.filter((each) => written.includes(each) && fits(each, key)));
}

/**
 * Whether an operation is possible for a type. Rows without a key cannot be named, and a cursor
 * could not keep their order.
 */
function fits(operation: CrudOperation, key: EntityFact['key']): boolean {
  return key?.length !== 0 || ['LIST', 'AGGREGATE', 'GROUP'].includes(operation);
}

/** `@crud(operations: [])`: nothing is written for the type, and no filter or order leads to it. */
export const isLeftOut = ({ directives }: EntityFact): boolean =>
  directives.crud?.operations?.length === 0;
