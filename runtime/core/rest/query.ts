import { defaultPageSize, type RestFilter, type RestMember } from '@twofold/schema';
import { isScalarType } from 'graphql';
import { failure } from '../errors.ts';
import type { Rules } from '../data/access/access.ts';
import { addedNames } from './added-fields.ts';
import { isOpen } from './selection.ts';
import type { RestService, ServedModule } from './service.ts';
import { type QueryString } from './field-selection.ts';

export interface Page {
  readonly page: number;
  readonly limit: number;
}

/** The largest Int of GraphQL, the type of offsets. */
const MAX_INT = 2 ** 31 - 1;

/** @throws AppError 400 `Invalid page number`, `Invalid limit number` */
export function readPage(query: QueryString, { module: { list } }: ServedModule): Page {
  const max = list?.action.kind === 'list' ? list.action.list.paging.max : MAX_INT;
  const limit = readNumber(
    query['limit'],
    list ? defaultPageSize(list) : max,
    max,
    'Invalid limit number',
  );
  const page = readNumber(query['page'], 1, Math.floor(MAX_INT / limit), 'Invalid page number');
  return { page, limit };
}

function readNumber(
  text: QueryString[string],
  fallback: number,
  max: number,
  problem: string,
): number {
  if (text === undefined) return fallback;
  const value = typeof text === 'string' && /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > max) throw failure.badRequest(problem);
  return value;
}

/**
 * Refuses unknown parameters: a misspelt filter must not return everything.
 *
 * @throws AppError 400 that names them.
 */
export function assertKnown(query: QueryString, known: (name: string) => boolean): void {
  const unknown = Object.keys(query).filter((name) => !known(name));
  if (unknown.length > 0)
    throw failure.badRequest(
      `Unknown query parameter${unknown.length > 1 ? 's' : ''}: ${unknown.map((name) => name.slice(0, 64)).join(', ')}`,
    );
}

/**
 * @throws AppError 400 `Invalid sort order. Use 'asc' or 'desc'`, or for a name that is not a
 * sortable field.
 */
function readOrder(
  query: QueryString,
  { sorts }: ServedModule,
): Readonly<Record<string, 'ASC' | 'DESC'>> | undefined {
  const { sort, order } = query;
  const direction = order === undefined ? 'asc' : String(order).toLowerCase();
  if (direction !== 'asc' && direction !== 'desc')
    throw failure.badRequest("Invalid sort order. Use 'asc' or 'desc'");
  if (sort === undefined && order === undefined) return undefined;
  const name = String(sort ?? 'id');
  if (!sorts.includes(name))
    throw failure.badRequest(`Invalid sort field. Use one of ${sorts.join(', ')}`);
  return { [name]: direction === 'asc' ? 'ASC' : 'DESC' };
}

/**
 * Converts the filters of a query string to the `where` of a list.
 *
 * @throws AppError 400 for a value of the wrong type, 403 for a relation whose rows the caller may
 * not see.
 */
function readWhere(
  service: RestService,
  query: QueryString,
  { filters }: ServedModule,
  rules: Rules,
): Record<string, Record<string, unknown>> {
  const where: Record<string, Record<string, unknown>> = {};
  for (const [name, given] of Object.entries(query)) {
    const filter = filters.get(name);
    if (!filter || given === undefined) continue;
    place(service, where, filter, readOperand(service, filter, given), rules);
  }
  return where;
}

/** Reads the sorting, filters and search of a query string as variables of a list. */
export function readListVariables(
  service: RestService,
  query: QueryString,
  served: ServedModule,
  rules: Rules,
): Record<string, unknown> {
  const orderBy = readOrder(query, served);
  const search = served.searched ? query['search'] : undefined;
  return {
    where: readWhere(service, query, served, rules),
    ...(orderBy && { orderBy }),
    // If the parameter is given twice, both texts are searched for as one.
    ...(search !== undefined && { search: [search].flat().join(' ') }),
  };
}

/**
 * The comparison of a relation's key. The row may be hidden from the caller, so the filter goes
 * through the relation, which applies the row's rules.
 */
function place(
  service: RestService,
  where: Record<string, Record<string, any>>,
  { member, operator }: RestFilter,
  value: unknown,
  rules: Rules,
): void {
  const { source } = member.field;
  if (member.kind !== 'key' || source.kind !== 'one' || isOpen(service, rules, source.entity))
    return void ((where[member.name] ??= {})[operator] = value);
  const relation = (where[addedNames.relation(member.field.name)] ??= {});
  if (operator === 'isNull') throw failure.forbidden();
  (relation['id'] ??= {})[operator] = value;
}

/** The operand of a filter. A list is separated by commas, or given by a repeated parameter. */
export function readOperand(
  service: RestService,
  { parameter, member, operator }: RestFilter,
  given: string | readonly string[],
): unknown {
  if (operator === 'in' || operator === 'notIn') {
    const texts = typeof given === 'string' ? given.split(',') : given;
    return texts.map((text) => readValue(service, parameter, member, text));
  }
  if (typeof given !== 'string') throw failure.badRequest(`${parameter} is given more than once`);
  if (operator === 'isNull') return readBoolean(parameter, given);
  if (operator === 'contains' || operator === 'startsWith' || operator === 'endsWith') return given;
  return readValue(service, parameter, member, given);
}

function readBoolean(parameter: string, text: string): boolean {
  if (text !== 'true' && text !== 'false')
    throw failure.badRequest(`${parameter} must be true or false`);
  return text === 'true';
}

/** Parses a text as a value of the field's type. */
function readValue(
  { engine }: RestService,
  parameter: string,
  { kind, field, column }: RestMember,
  text: string,
): unknown {
  const { values, scalar = 'ID' } = column ?? {};
  const isNumber = column?.type === 'id' && scalar === 'Int';
  if (!isNumber && (kind === 'key' ? scalar : field.type.name) === 'ID') return text;
  if (values)
    return values.includes(text)
      ? text
      : refuse(`${parameter} must be one of ${values.join(', ')}`);
  if (column?.type === 'boolean') return readBoolean(parameter, text);
  const numeric =
    isNumber ||
    column?.type === 'integer' ||
    column?.type === 'real' ||
    (field.type.name === 'Timestamp' && /^-?\d+$/.test(text));
  const value = numeric ? (text.trim() === '' ? text : Number(text)) : text;
  const type = engine.schema.getType(kind === 'key' || isNumber ? scalar : field.type.name);
  if (!isScalarType(type)) return value;
  try {
    return type.coerceInputValue(value);
  } catch {
    return refuse(`${parameter} is not a valid ${type.name}`);
  }
}

function refuse(message: string): never {
  throw failure.badRequest(message);
}
