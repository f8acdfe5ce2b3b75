import type { Column, Constraint } from '@twofold/schema';
import { failure } from '../../errors.ts';
import { columnName } from '../sql/scope.ts';
import { castType } from '../sql/values.ts';
import { joinSql, sql, type Sql } from '../sql/fragment.ts';
import { listOf } from '../sql/list-of.ts';
import { stored } from '../sql/stored-as.ts';
import type { EntityModel } from '../model.ts';
import { assertValid, constraintErrors, type InputError } from './constraint.ts';
import type { Operators } from './operators.ts';
import type { Writing } from './writing.ts';

/** A new value that depends on the old one. */
export class Change {
  readonly column: Column;
  /** The name of the input's field. */
  readonly name: string;
  readonly word: string;
  readonly operand: unknown;
  readonly constraint: Constraint | undefined;

  constructor(column: Column, name: string, value: Operators, constraint: Constraint | undefined) {
    const given = Object.entries(value).find(([, operand]) => operand !== undefined);
    [this.word, this.operand] = given ?? ['', null];
    this.column = column;
    this.name = name;
    this.constraint = constraint ?? column.constraint;
  }
}

/** A new row has no old value. */
export function assertNoChange(values: Iterable<unknown>): void {
  for (const value of values)
    if (value instanceof Change)
      throw failure.invalid(`${value.name} must be a value: a new row has none to change`, {
        extensions: { field: value.name },
      });
}

const SIGNS: Readonly<Record<string, { readonly sign: string; readonly exact: string }>> = {
  increment: { sign: '+', exact: 'twofold_plus' },
  decrement: { sign: '-', exact: 'twofold_minus' },
  multiply: { sign: '*', exact: 'twofold_times' },
};

/** The new value as SQL. SQLite's own arithmetic is not exact beyond 64 bits, nor for decimals. */
export function changedSql(
  { model, dialect }: Writing,
  entity: EntityModel,
  { column, word, operand }: Change,
): Sql {
  const name = columnName(entity, column.name);
  const as = stored(model, entity, column.name);
  const given = { from: 'value', value: operand, as } as const;
  const operator = SIGNS[word];
  if (operator)
    return dialect === 'sqlite' && (column.type === 'bigint' || column.type === 'decimal')
      ? sql`${operator.exact}(${name}, ${given})`
      : sql`${name} ${operator.sign} ${given}`;
  const items = listOf(operand);
  if (dialect === 'sqlite') {
    const added = items.map(
      (value) => sql`, '$[#]', json(${{ from: 'value', value, as: { type: 'json' } }})`,
    );
    return sql`json_insert(coalesce(${name}, '[]')${joinSql(added, '')})`;
  }
  const list = { ...given, value: items };
  return as.databaseType?.endsWith('[]')
    ? sql`coalesce(${name}, '{}') || ${list}::${castType(as, model.ids)}`
    : sql`coalesce(${name}::jsonb, '[]') || ${list}::jsonb`;
}

/** What follows the key in `returning`: the results as text. */
export const resultsSql = (entity: EntityModel, changes: readonly Change[]): string =>
  changes
    .map(({ column, word }, at) => {
      const name = columnName(entity, column.name);
      const shown =
        word === 'push' && column.databaseType?.endsWith('[]') ? `to_json(${name})` : name;
      return `, cast(${shown} as text) as c${at}`;
    })
    .join('');

/** @throws AppError `BAD_USER_INPUT` when a result is beyond its type or its constraint */
export function assertResults(
  changes: readonly Change[],
  row: Readonly<Record<string, unknown>> | undefined,
): void {
  const errors = changes.flatMap(({ column, name, word, constraint }, at): InputError[] => {
    const text = row?.[`c${at}`];
    if (typeof text !== 'string') return [];
    if (word === 'push') return constraintErrors(constraint, JSON.parse(text), name);
    return isWithin(column, text)
      ? constraintErrors(constraint, text, name)
      : [{ field: name, message: OUT_OF_RANGE }];
  });
  assertValid(errors);
}

function isWithin({ type }: Column, text: string): boolean {
  if (type === 'real') return Number.isFinite(Number(text));
  const bits = { integer: 32, bigint: 64 }[type as string];
  if (bits === undefined) return true;
  return /^-?\d+$/.test(text) && BigInt.asIntN(bits, BigInt(text)) === BigInt(text);
}

interface Refused {
  readonly code?: string;
  readonly errcode?: number;
  readonly constraint?: string;
  readonly message?: string;
}

/** Names the field of a result that the database itself refuses: by its type, or by a check. */
export function refusedResult(changes: readonly Change[], error: unknown): never {
  const { code, errcode, constraint = '', message = '' } = error as Refused;
  const check = code === '23514' || errcode === 275;
  const named = changes.find(({ column }) => `${constraint} ${message}`.includes(column.name));
  const change = named ?? changes[0];
  if (change && (check || code === '22003'))
    assertValid([{ field: change.name, message: check ? limitsOf(change) : OUT_OF_RANGE }]);
  throw error;
}

const OUT_OF_RANGE = 'is out of range';

function limitsOf({ constraint: { min, max } = {} }: Change): string {
  const limits = [
    ...(min === undefined ? [] : [`at least ${min}`]),
    ...(max === undefined ? [] : [`at most ${max}`]),
  ];
  return limits.length > 0 ? `must be ${limits.join(' and ')}` : 'is not allowed';
}
