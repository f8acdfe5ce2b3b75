import type { Field } from '@twofold/schema';
import { failure } from '../../errors.ts';
import { sql, type Sql } from './fragment.ts';
import { joinedCondition } from './key-conditions.ts';
import { reference, type Scope } from './scope.ts';
import type { EntityModel } from '../model.ts';

/** A table of a query. */
export interface TableAlias {
  readonly entity: EntityModel;
  readonly alias: string;
}

/**
 * The condition that a row of `related` is one that the field leads to.
 *
 * @param own names a column of the row that has the field.
 */
export function linkCondition(
  scope: Scope,
  { name, source }: Pick<Field, 'name' | 'source'>,
  { entity, alias }: TableAlias,
  own: (column: string) => string,
): Sql {
  const theirs = (column: string) => reference(entity, alias, column);
  if (source.kind === 'one')
    return source.key === 'own'
      ? sql`${theirs(source.to ?? 'id')} = ${own(source.column)}`
      : sql`${theirs(source.column)} = ${own(source.to ?? 'id')}`;
  if (source.kind !== 'many') throw failure.invalid(`${name} is not a relation`);
  const { via } = source;
  return via.kind === 'column'
    ? sql`${theirs(via.column)} = ${own(via.to ?? 'id')}`
    : joinedCondition(scope, via, theirs('id'), own('id'));
}
