import type { Filter } from '@twofold/schema';
import { failure } from '../../errors.ts';
import { refusal } from '../access/access.ts';
import { tallySql } from './tally.ts';
import { not } from '../words/comparison.ts';
import type { Compared } from '../words/compared.ts';
import { accessCondition } from '../access/condition-sql.ts';
import { sql, type Sql } from '../sql/fragment.ts';
import { found } from '../model.ts';
import { reference, type Scope } from '../sql/scope.ts';
import { wordSql } from '../words/words.ts';
import type { FilterSite } from './filter-relations.ts';
import { givenAt, wordsCondition } from './words-condition.ts';

/**
 * Compares a field with `@count` or `@exists`. In rows where the caller may not read it, it has no
 * value.
 *
 * @throws AppError when they may read it in no row.
 */
export function tallyCondition(
  scope: Scope,
  { field: name, operators = [] }: Extract<Filter, { kind: 'tally' }>,
  value: unknown,
  site: FilterSite,
): Sql | undefined {
  const { entity, alias } = site;
  const ref = (column: string) => reference(entity, alias, column);
  const field = found(entity.fields.get(name), `field ${name}`);
  const { source } = field;
  if (source.kind !== 'tally') throw failure.invalid(`${name} cannot be filtered by`);
  const relation = found(entity.fields.get(source.relation), `field ${source.relation}`);
  const access = scope.rules.field(entity.entity, field, 'READ');
  if (access.kind === 'none') throw refusal(access.code);
  const readable = accessCondition(scope, entity.entity.name, access, alias);
  const number = tallySql(scope, entity.entity.name, { tally: source, relation }, { ref });
  const compared: Compared = {
    form: 'scalar',
    as: { type: source.of === 'count' ? 'integer' : 'boolean' },
    value: readable ? sql`(case when ${readable} then ${number} end)` : number,
    nothing: () => (readable ? not(readable) : sql`false`),
  };
  return operators.length === 0
    ? wordSql(scope, compared, 'eq', givenAt(site, value))
    : wordsCondition(scope, compared, operators, value, { call: site.call, path: site.path });
}
