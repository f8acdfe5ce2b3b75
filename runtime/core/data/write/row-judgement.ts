import type { Stored } from '../sql/values.ts';
import type { Rules } from '../access/access.ts';
import { joinSql, sql, valueSql, toStatement, type Sql } from '../sql/fragment.ts';
import type { EntityModel, Model } from '../model.ts';
import { bind } from '../reader.ts';
import {
  isJudgedByRow,
  isStated,
  organizationsWith,
  type RowCondition,
  type RowConditions,
} from '../access/row-condition.ts';
import { conditionsSql } from '../access/condition-sql.ts';
import { tableName, createScope, reference, type Scope } from '../sql/scope.ts';
import { stored } from '../sql/stored-as.ts';
import { postgresType, toStored } from '../sql/values.ts';
import type { Query, Dialect } from '../../store/store.ts';

/** The caller, and the database that decides where the row's own values are not enough. */
export interface Judge {
  readonly model: Model;
  readonly rules: Rules;
  readonly dialect: Dialect;
  readonly query: Query;
}

/**
 * A row that need not be in the database: one to be written, one that was removed, or an object of
 * user code.
 */
export interface JudgedRow {
  readonly entity: EntityModel;
  /** Whether it may lack columns of the stored row. */
  readonly partial?: boolean;
  value(column: string): unknown;
}

/** Whether a row meets conditions. It is a promise only when the database has to be asked. */
export function rowMeets(
  judge: Judge,
  row: JudgedRow,
  conditions: RowConditions,
): boolean | Promise<boolean> {
  const open: RowConditions = conditions.filter(
    (any) => !any.some((one) => holds(judge, row, one)),
  );
  if (open.length === 0) return true;
  if (open.some((any) => any.every(isJudgedByRow))) return false;
  return askDatabase(judge, row, open);
}

/** Whether the row's own values meet the condition. */
export function holds(
  judge: Judge | Pick<Judge, 'model' | 'rules' | 'dialect'>,
  row: JudgedRow,
  one: RowCondition,
): boolean {
  if (one.kind !== 'caller' && one.kind !== 'organization') return false;
  const { model, dialect, rules } = judge;
  const key = toStored(
    row.value(one.column),
    stored(model, row.entity, one.column),
    model.ids,
    dialect,
  );
  if (key === null) return false;
  if (one.kind === 'caller') return String(key) === String(rules.caller);
  return organizationsWith(rules.organizations, one.roles).some(
    ({ id }) => String(id) === String(key),
  );
}

async function askDatabase(
  judge: Judge,
  row: JudgedRow,
  conditions: RowConditions,
): Promise<boolean> {
  const { model, rules, dialect, query } = judge;
  const scope = createScope({ model, rules, dialect, calls: [], marker: '', tree: false });
  const asked =
    row.partial && isStated(conditions)
      ? ofStoredRow(scope, row, conditions)
      : sql`select 1 as met where ${conditionsSql(scope, row.entity.entity.name, conditions, valuesOf(scope, row))}`;
  const { text, parameters } = toStatement(asked, { dialect });
  const values = bind(parameters, model, dialect, { rules });
  return (await query(text, values)).length > 0;
}

/** The values of the row with their types, which PostgreSQL cannot infer from two parameters. */
const valuesOf =
  (scope: Scope, { entity, value }: JudgedRow) =>
  (column: string) => {
    const as = stored(scope.model, entity, column);
    const typed = (of: Stored) => {
      const parameter = { from: 'value' as const, value: value(column), as: of };
      return scope.dialect === 'postgres'
        ? sql`${parameter}::${postgresType(of, scope.model.ids)}`
        : sql`${parameter}`;
    };
    return as.parts ? sql`(${joinSql(as.parts.map(typed), ', ')})` : typed(as);
  };

/** Asks the database about the row as it is stored. */
function ofStoredRow(scope: Scope, { entity, value }: JudgedRow, conditions: RowConditions): Sql {
  const { name: of } = entity.entity;
  const alias = scope.alias();
  const table = tableName(entity.entity, scope.dialect);
  const ref = (column: string) => reference(entity, alias, column);
  const id = valueSql(stored(scope.model, entity, 'id'), (as) => ({
    from: 'value',
    value: value('id'),
    as,
  }));
  return sql`select 1 as met from ${table} ${alias} where ${ref('id')} = ${id} and (${conditionsSql(scope, of, conditions, ref)})`;
}
