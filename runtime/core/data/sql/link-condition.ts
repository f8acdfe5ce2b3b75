import type { Field } from '@twofold/schema';
import { failure } from '../../errors.ts';
import { sql, type Sql, joinSql, type Parameter } from './fragment.ts';
import { reference, type Scope, bare, joinColumns, tableName } from './scope.ts';
import type { EntityModel } from '../model.ts';
import type { JoinTable } from '../plan.ts';
import { postgresType, type Stored } from './values.ts';

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

/** The condition that a column, or a composite key, is in a list of values. */
export function isAmong(
  { dialect, model }: Scope,
  column: Sql,
  as: Stored,
  parameter: (as: Stored) => Parameter,
): Sql {
  const list = (of: Stored) => parameter({ ...of, many: true });
  const { parts } = as;
  if (dialect === 'sqlite') {
    const values = parts ? parts.map((_, index) => `value ->> ${index}`).join(', ') : 'value';
    return sql`${column} in (select ${values} from json_each(${list(as)}))`;
  }
  if (!parts) return sql`${column} = any(${list(as)})`;
  const arrays = parts.map((part) => sql`${list(part)}::${postgresType(part, model.ids)}[]`);
  return sql`${column} in (select * from unnest(${joinSql(arrays, ', ')}))`;
}

/** The condition that a join table has a row with both keys. */
export function joinedCondition(
  { dialect }: Scope,
  join: JoinTable,
  other: string,
  own: string,
): Sql {
  const columns = bare(joinColumns(join.other));
  return sql`${other} in (select ${columns} from ${tableName(join, dialect)} where ${joinColumns(join.own)} = ${own})`;
}
