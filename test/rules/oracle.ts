import type { Principal } from '../../runtime/core/context/request-context.ts';
import {
  CALLER,
  type Row,
  type Rule,
  type Verb,
  WAYS,
  type Way,
  type Where,
} from './random-conditions.ts';

/** Rows by type, and the rows of join tables by table. */
export interface World {
  readonly rows: ReadonlyMap<string, readonly Row[]>;
  readonly pairs: ReadonlyMap<string, readonly Row[]>;
}

/** What the rules say, worked out row by row by nothing of the server. */
export interface Oracle {
  allows(rules: readonly Rule[], type: string, row: Row, verb: Verb): boolean;
}

const callerOf = (caller: Principal): number | null =>
  caller.kind === 'user'
    ? Number(caller.id)
    : caller.kind === 'api_key' && caller.userId !== null
      ? Number(caller.userId)
      : null;

export function oracleOf(world: World, caller: Principal): Oracle {
  const me = callerOf(caller);
  const claims = caller.kind === 'user' ? caller.extend : {};
  const holds = (type: string, row: Row, where: Where): boolean =>
    Object.entries(where).every(([name, value]) => member(type, row, name, value));

  const member = (type: string, row: Row, name: string, value: any): boolean => {
    const items = Array.isArray(value) ? value : [value];
    if (name === 'and') return items.every((each) => holds(type, row, each));
    if (name === 'or') return items.some((each) => holds(type, row, each));
    if (name === 'not') return !items.some((each) => holds(type, row, each));
    const way = WAYS[type]?.[name];
    if (!way) return compared(row[name] ?? null, value, name);
    const isKey = value === CALLER || 'claim' in (value ?? {}) || value?.ne === CALLER;
    if (way.own && isKey) return compared(row[way.own] ?? null, value, 'id');
    const related = relatedRows(world, type, row, way);
    if (way.own) {
      if (value === null) return related.length === 0;
      const { isNull, ...rest } = value;
      const there = isNull === undefined || (related.length === 0) === isNull;
      const only = isNull !== undefined && Object.keys(rest).length === 0;
      return there && (only || related.some((each) => holds(way.to, each, rest)));
    }
    return Object.entries<any>(value).every(([word, inner]) => {
      if (word === 'some') return related.some((each) => holds(way.to, each, inner));
      if (word === 'every') return related.every((each) => holds(way.to, each, inner));
      if (word === 'none') return !related.some((each) => holds(way.to, each, inner));
      return compared(related.length, inner, 'count');
    });
  };

  const operand = (value: any): unknown => {
    if (value === CALLER) return me;
    return typeof value === 'object' && value !== null && 'claim' in value
      ? claimOf(claims, value.claim)
      : value;
  };

  const compared = (own: unknown, value: any, column: string): boolean => {
    const isWords =
      typeof value === 'object' && value !== null && value !== CALLER && !('claim' in value);
    const words: [string, unknown][] = isWords ? Object.entries(value) : [['eq', value]];
    return words.every(([word, raw]) => {
      const given = operand(raw);
      const claimed = typeof raw === 'object' && raw !== null && 'claim' in raw;
      const list = claimed && Array.isArray(given);
      if (word === 'isNull') return (own === null) === given;
      if (word === 'in' || (list && word === 'eq')) return isIn(own, given, column);
      if (word === 'notIn' || (list && word === 'ne')) return !isIn(own, given, column);
      if (word === 'eq') return isSame(own, given, column);
      if (word === 'ne') return !isSame(own, given, column);
      return own !== null && given !== null && inOrder(own as any, word, given as any);
    });
  };

  const isAnswerable = (type: string, where: Where): boolean =>
    Object.entries(where).every(([name, value]) => answers(type, name, value));

  const answers = (type: string, name: string, value: any): boolean => {
    if (name === 'and' || name === 'or' || name === 'not')
      return [value].flat().every((each: Where) => isAnswerable(type, each));
    const way = WAYS[type]?.[name];
    const isKey = value === CALLER || 'claim' in Object(value) || value?.ne === CALLER;
    if (!way || (way.own && isKey)) return operandsFit(value, way ? 'id' : name);
    if (way.own) return isAnswerable(way.to, withoutNull(value ?? {}));
    return Object.entries<any>(value).every(
      ([word, inner]) => word === 'count' || isAnswerable(way.to, inner),
    );
  };

  const operandsFit = (value: any, column: string): boolean => {
    const isWords =
      typeof value === 'object' && value !== null && value !== CALLER && !('claim' in value);
    const words: [string, any][] = isWords ? Object.entries(value) : [['eq', value]];
    return words.every(([word, raw]) => {
      if (raw === CALLER) return me !== null;
      if (typeof raw !== 'object' || raw === null || !('claim' in raw)) return true;
      const given = claimOf(claims, raw.claim);
      const list = Array.isArray(given);
      if (list && !['eq', 'ne', 'in', 'notIn'].includes(word)) return false;
      return [given].flat().every((each) => fits(each, column));
    });
  };

  const isOwner = (type: string, row: Row, path: string): boolean =>
    path
      .split('.')
      .reduce<{ type: string; rows: readonly Row[] }>(
        (at, step) => {
          const way = WAYS[at.type]![step]!;
          return {
            type: way.to,
            rows: at.rows.flatMap((each) => relatedRows(world, at.type, each, way)),
          };
        },
        { type, rows: [row] },
      )
      .rows.some(({ id }) => id === me);

  const isWho = ({ allow, owner }: Rule, type: string, row: Row): boolean => {
    if (allow === 'PUBLIC') return true;
    if (allow === 'USER') return me !== null;
    if (allow === 'API_KEY') return caller.kind === 'api_key' && me === null;
    if (allow === 'ROLE') return caller.kind === 'user' && caller.role?.name === 'admin';
    return me !== null && owner !== undefined && isOwner(type, row, owner);
  };

  return {
    allows: (rules, type, row, verb) => {
      const relevant = rules.filter(({ on }) => !on || on.includes(verb));
      // Everything is open by `api.access` where no rule speaks.
      if (relevant.length === 0) return true;
      return relevant.some(
        (rule) =>
          isWho(rule, type, row) &&
          (!rule.where || (isAnswerable(type, rule.where) && holds(type, row, rule.where))),
      );
    },
  };
}

function withoutNull({ isNull: _word, ...rest }: Where): Where {
  return rest;
}

/** The rows that a field leads to. Softly deleted ones are gone. */
export function relatedRows(world: World, _type: string, row: Row, way: Way): readonly Row[] {
  const all = (world.rows.get(way.to) ?? []).filter(({ deleted_at }) => !deleted_at);
  if (way.own) return all.filter(({ id }) => id === row[way.own!]);
  if (way.theirs) return all.filter((each) => each[way.theirs!] === row['id']);
  const { table, own, other } = way.pairs!;
  const keys = (world.pairs.get(table) ?? [])
    .filter((pair) => pair[own] === row['id'])
    .map((pair) => pair[other]);
  return all.filter(({ id }) => keys.includes(id));
}

const claimOf = (claims: any, path: string): unknown =>
  path.split('.').reduce((value, step) => value?.[step], claims) ?? null;

function fits(value: unknown, column: string): boolean {
  if (column === 'id') return /^\d+$/.test(String(value));
  return column === 'number' ? Number.isInteger(value) : typeof value === 'string';
}

const isIn = (own: unknown, given: unknown, column: string): boolean =>
  [given].flat().some((each) => isSame(own, each, column));

function isSame(own: unknown, given: unknown, column: string): boolean {
  if (own === null || given === null) return own === given;
  return column === 'id' ? String(own) === String(given) : own === given;
}

function inOrder(own: any, word: string, given: any): boolean {
  if (word === 'lt') return own < given;
  if (word === 'lte') return own <= given;
  if (word === 'gt') return own > given;
  if (word === 'gte') return own >= given;
  if (word === 'contains') return own.includes(given);
  return word === 'startsWith' ? own.startsWith(given) : own.endsWith(given);
}
