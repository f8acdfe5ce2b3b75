import { joinSql, sql, type Parameter, type Sql } from './fragment.ts';
import type { JoinTable } from '../plan.ts';
import { bare, joinColumns, tableName, type Scope } from './scope.ts';
import { postgresType, type Stored } from './values.ts';

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
