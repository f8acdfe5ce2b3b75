import type { Column, FilterOperator, ListOptions } from '@twofold/schema';
import { failure } from '../errors.ts';
import type { Rules } from '../data/access.ts';
import { assertReadable } from '../data/page.ts';
import type { Call, Order } from '../data/plan.ts';
import type { ScalarCodec } from '../data/scalars/known.ts';
import type { RestEntity } from './modules.ts';

/** A query string as Koa has it. */
export type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface PageRequest {
  readonly page: number;
  readonly limit: number;
}

const RESERVED = new Set(['page', 'limit', 'sort', 'order', 'fields', 'include']);

/** Words behind the last underscore of a filter, with those of GraphQL in snake_case too. */
const WORDS: Readonly<Record<string, FilterOperator>> = {
  eq: 'eq', ne: 'ne', in: 'in', notIn: 'notIn', not_in: 'notIn', lt: 'lt', lte: 'lte', gt: 'gt', gte: 'gte',
  contains: 'contains', startsWith: 'startsWith', starts_with: 'startsWith', endsWith: 'endsWith', ends_with: 'endsWith', isNull: 'isNull', is_null: 'isNull',
};

/** `page` and `limit`. @throws AppError 400 `Invalid page number`, `Invalid limit number` */
export function readPage(query: Query, { paging }: ListOptions): PageRequest {
  return { page: readNumber(query['page'], 1, 2 ** 31, 'Invalid page number'), limit: readNumber(query['limit'], Math.min(20, paging.max), paging.max, 'Invalid limit number') };
}

function readNumber(text: Query[string], fallback: number, max: number, problem: string): number {
  if (text === undefined) return fallback;
  const value = typeof text === 'string' && /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > max) throw failure.badRequest(problem);
  return value;
}

/** What a list request asks for. @throws AppError 400 that names the parameter, 403 for a field that is not the caller's to read. */
export function readList(query: Query, entity: RestEntity, { rules, codecs, list, page }: { readonly rules: Rules; readonly codecs: ReadonlyMap<string, ScalarCodec>; readonly list: ListOptions; readonly page: PageRequest }): Call {
  const where = readFilters(query, entity, codecs);
  return {
    equals: [],
    ...(Object.keys(where).length > 0 && { where }),
    order: [...readOrder(query, entity, rules, list).filter(({ column }) => column !== 'id'), ...idOrder(query)],
    page: { limit: page.limit, offset: (page.page - 1) * page.limit, backwards: false },
  };
}

function readOrder(query: Query, entity: RestEntity, rules: Rules, list: ListOptions): readonly Order[] {
  const direction = String(query['order'] ?? 'asc').toLowerCase();
  if (direction !== 'asc' && direction !== 'desc') throw failure.badRequest("Invalid sort order. Use 'asc' or 'desc'");
  if (query['sort'] === undefined) return list.order;
  const column = entity.members.get(String(query['sort']))?.column;
  if (column === undefined) throw failure.badRequest(`sort: ${entity.entity.name} has no field ${String(query['sort'])}`);
  assertReadable(rules, entity.model, column);
  return [{ column, descending: direction === 'desc' }];
}

/** The key decides between equals, and goes the other way when it is what is sorted by. */
const idOrder = (query: Query): Order[] => [{ column: 'id', descending: query['order'] === 'desc' && (query['sort'] === undefined || query['sort'] === 'id') }];

function readFilters(query: Query, entity: RestEntity, codecs: ReadonlyMap<string, ScalarCodec>): Record<string, Record<string, unknown>> {
  const where: Record<string, Record<string, unknown>> = {};
  for (const [name, text] of Object.entries(query)) {
    if (RESERVED.has(name) || text === undefined) continue;
    const found = findFilter(name, entity);
    if (!found) continue;
    const { column, operator } = found;
    if (column.type === 'json' || column.type === 'bytes' || column.list) throw failure.badRequest(`${name} cannot be filtered by`);
    (where[column.name] ??= {})[operator] = readValue(name, text, operator, column, codecs);
  }
  return where;
}

/** `title`, or `title_contains`. */
function findFilter(name: string, { members, model }: RestEntity): { column: Column; operator: FilterOperator } | undefined {
  const exact = members.get(name)?.column;
  if (exact !== undefined) return { column: model.column(exact), operator: 'eq' };
  for (const [word, operator] of Object.entries(WORDS)) {
    const column = name.endsWith(`_${word}`) ? members.get(name.slice(0, -word.length - 1))?.column : undefined;
    if (column !== undefined) return { column: model.column(column), operator };
  }
  return undefined;
}

function readValue(name: string, text: string | readonly string[], operator: FilterOperator, column: Column, codecs: ReadonlyMap<string, ScalarCodec>): unknown {
  const texts = typeof text === 'string' ? [text] : text;
  if (operator === 'in' || operator === 'notIn') return texts.flatMap((item) => item.split(',')).map((item) => parse(name, item, column, codecs));
  const [single] = texts;
  if (texts.length !== 1 || single === undefined) throw failure.badRequest(`${name} is given more than once`);
  if (operator === 'isNull') return parseBoolean(name, single);
  return single === 'null' && !column.required && operator === 'eq' ? null : parse(name, single, column, codecs);
}

function parseBoolean(name: string, text: string): boolean {
  if (text !== 'true' && text !== 'false') throw failure.badRequest(`${name} must be true or false`);
  return text === 'true';
}

function parse(name: string, text: string, column: Column, codecs: ReadonlyMap<string, ScalarCodec>): unknown {
  const invalid = () => failure.badRequest(`${name} is not a valid ${column.scalar}`);
  if (column.values && !column.values.includes(text)) throw failure.badRequest(`${name} must be one of ${column.values.join(', ')}`);
  if (column.type === 'boolean') return parseBoolean(name, text);
  const codec = codecs.get(column.scalar);
  try {
    if (codec) return codec.input(column.scalar === 'Timestamp' ? Number(text) : text);
  } catch {
    throw invalid();
  }
  if (column.type !== 'integer' && column.type !== 'real') return text;
  const number = text.trim() === '' ? NaN : Number(text);
  if (!Number.isFinite(number) || (column.type === 'integer' && (!Number.isInteger(number) || Math.abs(number) > 2 ** 31 - 1))) throw invalid();
  return number;
}
