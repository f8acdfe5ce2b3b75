import { rowSql, cellsOf } from '../sql/cells.ts';
import type { EntityModel } from '../model.ts';
import { sql, toStatement, type Sql, type Statement } from '../sql/fragment.ts';
import { objectJson } from './object.ts';
import type { Aggregated, Get, Planned, Selection } from '../plan.ts';
import { readAccess } from '../rows/rows.ts';
import { rowCondition } from '../access/condition-sql.ts';
import { tableName, keyOfRow, reference, type Scope } from '../sql/scope.ts';
import { looksAt } from '../access/row-condition.ts';
import { nodeSelections } from '../long.ts';
import { asText } from './select.ts';

/**
 * The statement that inserts one row. `id` is its key, and `j` is what `root` shows of it, or null
 * when the caller may not read it.
 *
 * @example insertStatement(scope, ['title', 'author_id'], root).text // 'insert into "posts" ("title", "author_id") values (?, ?) returning …'
 */
export function insertStatement(scope: Scope, columns: readonly string[], root: Get): Statement {
  const entity = scope.model.entity(root.entity);
  const table = tableName(entity.entity, scope.dialect);
  const id = keyOfRow(scope, entity, table);
  return toStatement(
    sql`${insertInto(scope, entity, columns)} returning ${id} as id, ${asText(scope, answer(scope, root, table))} as j`,
    scope,
  );
}

function insertInto(
  { model, dialect }: Scope,
  entity: EntityModel,
  columns: readonly string[],
): Sql {
  const target = tableName(entity.entity, dialect);
  if (columns.length === 0) return sql`insert into ${target} default values`;
  const cells = cellsOf(model, entity, columns, (column, as) => ({ from: 'row', column, as }));
  return sql`insert into ${target} ${rowSql(cells)}`;
}

function answer(scope: Scope, { entity, selection, access }: Get, table: string): Sql {
  const model = scope.model.entity(entity);
  const ref = (column: string) => reference(model, table, column);
  const object = objectJson(scope, selection, { ref });
  const condition = rowCondition(scope, model.entity, readAccess(scope, entity, access), table);
  return condition ? sql`case when ${condition} then ${object} end` : object;
}

/**
 * Whether what is shown of a new row depends on rows of the same table. An `insert … returning`
 * does not see its own row in a subquery.
 */
export function readsTableAgain({ entity, fields }: Selection, of = entity): boolean {
  return fields.some((field) =>
    selectionsBelow(field).some(
      (selection) => selection.entity === of || readsTableAgain(selection, of),
    ),
  );
}

/**
 * Whether a rule on the shown fields of a new row reads rows of the same table, which the statement
 * cannot see correctly either.
 */
export function rulesReadTableAgain(
  { model, rules }: Pick<Scope, 'model' | 'rules'>,
  { entity, fields }: Selection,
  of = entity,
): boolean {
  const access = rules.entity(model.entity(entity).entity, 'READ');
  return (
    (access.kind === 'rows' && looksAt(access.conditions, of)) ||
    fields.some(
      (field) =>
        ('only' in field && field.only !== undefined && looksAt(field.only, of)) ||
        selectionsBelow(field).some((below) => rulesReadTableAgain({ model, rules }, below, of)),
    )
  );
}

function selectionsBelow(field: Planned): readonly Selection[] {
  switch (field.kind) {
    case 'one':
    case 'many':
      return [field.selection];
    case 'abstract':
      return field.members.map(({ selection }) => selection);
    case 'tally':
      return [{ entity: field.tally.entity, fields: [], row: false }];
    case 'aggregated':
      return [{ entity: field.entity, fields: [], row: false }, ...keySelections(field)];
    case 'connection':
      // The field returns rows of the entity, so it reads the table again, whatever is selected of
      // them.
      return [{ entity: field.entity, fields: [], row: false }, ...nodeSelections(field.fields)];
    default:
      return [];
  }
}

/** The selections of related rows in the keys of groups. */
const keySelections = ({ fields }: Aggregated): readonly Selection[] =>
  fields.flatMap((part) =>
    part.kind === 'groupKey'
      ? part.fields.flatMap(({ planned }) => (planned.kind === 'one' ? [planned.selection] : []))
      : [],
  );
