import type { Tally, Field } from '@twofold/schema';
import { sql, type Sql } from '../sql/fragment.ts';
import { linkCondition } from '../sql/link-condition.ts';
import { keyType } from '../model.ts';
import { watched } from '../long.ts';
import type { Planned } from '../plan.ts';
import { conditionsSql, rowCondition } from '../access/condition-sql.ts';
import { shownBy, statedCondition } from '../access/list-condition.ts';
import { tableName, and, ofType, where, type Scope } from '../sql/scope.ts';
import type { Source } from '../sql/source.ts';

type TallyField = Extract<Planned, { kind: 'tally' }>;

/** The value of a field with `@count` or `@exists` in the answer. */
export function tallyJson(scope: Scope, parent: string, asked: TallyField, source: Source): Sql {
  const value = tallySql(scope, parent, asked, source);
  return asked.tally.of === 'count' ? value : scope.json.boolean(value);
}

/** The related rows that are counted, or whose existence is tested. */
export interface Counted {
  readonly tally: Pick<Tally, 'of' | 'entity' | 'where'>;
  /** The relation whose rows are counted. */
  readonly relation: Field;
  /**
   * Whether the time of each parent row is watched already. A count that needs only an index is
   * then not watched too.
   */
  readonly isWatched?: boolean;
}

/**
 * How many related rows there are, or whether there are any. Rows that the caller may not see do
 * not count.
 */
export function tallySql(
  scope: Scope,
  parent: string,
  { tally, relation, isWatched = false }: Counted,
  source: Pick<Source, 'ref'>,
): Sql {
  const entity = scope.model.entity(tally.entity);
  const alias = scope.alias();
  const access = scope.rules.entity(entity.entity, 'READ');
  const more = and([
    relationReadable(scope, parent, relation, source),
    ofType(keyType(relation.source, parent), entity, alias),
    rowCondition(scope, entity.entity, access, alias),
    shownBy(scope, relation, alias),
    tally.where && statedCondition(scope, entity.entity.name, tally.where, alias),
  ]);
  const condition = and([
    more || !isWatched ? watched(scope, entity, alias) : undefined,
    linkCondition(scope, relation, { entity, alias }, (column) => source.ref(column)),
    more,
  ]);
  const from = sql`from ${tableName(entity.entity, scope.dialect)} ${alias}${where(condition)}`;
  return tally.of === 'count' ? sql`(select count(*) ${from})` : sql`exists (select 1 ${from})`;
}

/** Where the caller may not read the relation, it has no rows. */
function relationReadable(scope: Scope, parent: string, field: Field, source: Pick<Source, 'ref'>) {
  if (field.rules.length === 0) return undefined;
  const access = scope.rules.field(scope.model.entity(parent).entity, field, 'READ');
  if (access.kind === 'all') return undefined;
  if (access.kind === 'none') return sql`false`;
  return conditionsSql(scope, parent, access.conditions, (column) => source.ref(column));
}
