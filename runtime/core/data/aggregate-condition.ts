import type { Filter, FilterOperator } from '@twofold/schema';
import { failure } from '../errors.ts';
import { refusal } from './access.ts';
import { aggregateSql } from './aggregate.ts';
import { binary, not } from './comparison.ts';
import { conditionsSql } from './condition-sql.ts';
import { sql, type Sql } from './fragment.ts';
import { isAmong } from './key-conditions.ts';
import { found, type EntityModel } from './model.ts';
import { and, parameter, reference, type Scope } from './scope.ts';
import type { Stored } from './values.ts';

/** The row that is filtered, and the path of the filter in the arguments. */
interface Site {
  readonly entity: EntityModel;
  readonly alias: string;
  readonly call: number;
  readonly path: readonly (string | number)[];
}

/**
 * Compares a field with `@count` or `@exists`. In rows where the caller may not read it, it has no
 * value.
 *
 * @throws AppError when they may read it in no row.
 */
export function aggregateCondition(
  scope: Scope,
  { field: name, operators = [] }: Extract<Filter, { kind: 'aggregate' }>,
  value: unknown,
  site: Site,
): Sql | undefined {
  const { entity, alias } = site;
  const ref = (column: string) => reference(entity, alias, column);
  const field = found(entity.fields.get(name), `field ${name}`);
  const { source } = field;
  if (source.kind !== 'aggregate') throw failure.invalid(`${name} cannot be filtered by`);
  const relation = found(entity.fields.get(source.relation), `field ${source.relation}`);
  const access = scope.rules.field(entity.entity, field, 'READ');
  if (access.kind === 'none') throw refusal(access.code);
  const readable =
    access.kind === 'rows'
      ? conditionsSql(scope, entity.entity.name, access.conditions, ref)
      : undefined;
  const compared: Compared = {
    readable,
    as: { type: source.of === 'count' ? 'integer' : 'boolean' },
    number: () => aggregateSql(scope, entity.entity.name, { aggregate: source, relation }, { ref }),
  };
  if (operators.length === 0 || value === null)
    return compare(scope, compared, { operator: 'eq', value }, site);
  const input = value as Readonly<Record<string, unknown>>;
  return and(
    operators
      .filter((operator) => input[operator] !== undefined)
      .map((operator) =>
        compare(
          scope,
          compared,
          { operator, value: input[operator] },
          {
            ...site,
            path: [...site.path, operator],
          },
        ),
      ),
  );
}

interface Compared {
  readonly readable: Sql | undefined;
  readonly as: Stored;
  number(): Sql;
}

function compare(
  scope: Scope,
  { readable, as, number }: Compared,
  { operator, value }: { readonly operator: FilterOperator; readonly value: unknown },
  { call, path }: Site,
): Sql {
  const there = readable ?? sql`true`;
  const nothing = readable ? not(readable) : sql`false`;
  if (value === null) return nullCondition(operator, path, { there, nothing });
  if (operator === 'isNull') return value === true ? nothing : there;
  const column = readable ? sql`(case when ${readable} then ${number()} end)` : number();
  if (operator !== 'in' && operator !== 'notIn')
    return binary(scope, column, operator, sql`${parameter(call, path, as)}`, false);
  const listed = isAmong(scope, column, as, (part) => ({ from: 'call', call, path, as: part }));
  const isIn = (value as unknown[]).includes(null)
    ? sql`((${listed}) is true or ${nothing})`
    : listed;
  return operator === 'in' ? isIn : not(isIn);
}

function nullCondition(
  operator: FilterOperator,
  path: Site['path'],
  { there, nothing }: { readonly there: Sql; readonly nothing: Sql },
): Sql {
  if (operator === 'eq') return nothing;
  if (operator === 'ne') return there;
  const field = path.slice(1).join('.');
  throw failure.invalid(`${field} must not be null: write eq: null or ne: null`, {
    extensions: { field },
  });
}
