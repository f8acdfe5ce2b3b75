import type { Query } from '../store/store.ts';
import type { Rules } from './access.ts';
import { sql, toStatement } from './fragment.ts';
import type { EntityModel, Model } from './model.ts';
import { bind } from './reader.ts';
import {
  isJudgedByRow,
  organizationsWith,
  type RowCondition,
  type RowConditions,
} from './row-condition.ts';
import { conditionsSql, createScope, stored } from './scope.ts';
import { toStored } from './values.ts';
import type { Dialect } from '../store/store.ts';

/** The caller, and the database that is asked where the row's own values do not decide. */
export interface Judge {
  readonly model: Model;
  readonly rules: Rules;
  readonly caller: number | string | null;
  readonly dialect: Dialect;
  readonly query: Query;
}

/** A row that need not be in the database: one to be written, one that was removed, an object of user code. */
export interface JudgedRow {
  readonly entity: EntityModel;
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
  judge: Judge | Pick<Judge, 'model' | 'rules' | 'caller' | 'dialect'>,
  row: JudgedRow,
  one: RowCondition,
): boolean {
  if (one.kind === 'within' || one.kind === 'membership') return false;
  const { model, dialect, caller, rules } = judge;
  const key = toStored(
    row.value(one.column),
    stored(model, row.entity, one.column),
    model.ids,
    dialect,
  );
  if (key === null) return false;
  if (one.kind === 'caller') return String(key) === String(caller);
  return organizationsWith(rules.organizations, one.roles).some(
    ({ id }) => String(id) === String(key),
  );
}

async function askDatabase(
  judge: Judge,
  row: JudgedRow,
  conditions: RowConditions,
): Promise<boolean> {
  const { model, rules, caller, dialect, query } = judge;
  const scope = createScope({ model, rules, dialect, calls: [], marker: '', tree: false });
  const condition = conditionsSql(scope, row.entity.entity.name, conditions, (column) => ({
    from: 'value',
    value: row.value(column),
    as: stored(model, row.entity, column),
  }));
  const { text, parameters } = toStatement(sql`select 1 as met where ${condition}`, { dialect });
  const values = bind(parameters, model, dialect, {
    caller,
    organizations: rules.organizations,
  });
  return (await query(text, values)).length > 0;
}
