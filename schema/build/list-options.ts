import { isEnumType } from 'graphql';
import type { Argument, ListOptions, Paging } from '../model.ts';
import { didYouMean } from '../did-you-mean.ts';
import { enumName } from '../implied-lists.ts';
import { unknownWord } from './comparison-input.ts';
import { connectionOf } from './connections.ts';
import type { EntityFact, FieldFact } from './facts.ts';
import { filterShape } from './filter-shapes.ts';
import { readCondition } from './conditions.ts';
import { DISTINCT, ORDER, PAGING, WHERE } from './list-arguments.ts';
import { columnNames, namedColumn, takes } from './named-columns.ts';
import { columnForWord, orderShape } from './order-shapes.ts';
import { isSearch } from './search.ts';
import { Refusal, type Shapes } from './shapes.ts';

const PAGING_TYPES: Readonly<Record<string, readonly string[]>> = {
  limit: ['Int'],
  offset: ['Int'],
  first: ['Int'],
  last: ['Int'],
  after: ['String', 'ID'],
  before: ['String', 'ID'],
};
type Draft = { -readonly [K in keyof ListOptions]: ListOptions[K] } & {
  filters: { arg: string; column: string }[];
};

/**
 * The options of a list that its arguments set.
 *
 * @example
 * listOptions(shapes, field, post) // { filters: [{ arg: 'status', column: 'status' }], paging: { limit: 'limit', default: 100, max: 100 }, … }
 */
export function listOptions(
  shapes: Shapes,
  field: FieldFact,
  entity: EntityFact | undefined,
): ListOptions {
  const connection = connectionOf(field.named.name, shapes.facts);
  const draft: Draft = {
    filters: [],
    paging: { default: 0, max: 0 },
    ...(connection && { connection: connection.connection }),
    order: defaultOrder(shapes, field, entity),
    ...listCondition(shapes, field, entity),
    ...(field.directives.list?.filter &&
      entity && { filterable: filterable(shapes, field.directives.list.filter, entity) }),
  };
  for (const argument of field.args) {
    if (isSearch(shapes, argument, { field, entity })) {
      draft.search = argument.name;
      continue;
    }
    const part = PAGING.get(argument.name);
    if (part) addPaging(draft, part, argument);
    else if (argument.name === 'order_by' && !entity?.fields.has('order_by'))
      throw orderWord(field);
    else addArgument(shapes, draft, argument, entity);
  }
  return { ...draft, paging: { ...draft.paging, ...pageSize(shapes, field) } };
}

/** The arguments of a field, with those that page its list and that the schema leaves out. */
export function pagedArguments(
  { args }: FieldFact,
  list: ListOptions | undefined,
): readonly Argument[] {
  const { added = [] } = list?.paging ?? {};
  return added.length === 0 ? args : [...args, ...added.map(pageArgument)];
}

const pageArgument = (name: string): Argument => {
  const type = name === 'after' ? 'String' : 'Int';
  const plain = { required: false, list: false, itemRequired: false } as const;
  return { name, type: { name: type, kind: 'scalar', text: type, ...plain } };
};

function pageSize({ facts }: Shapes, field: FieldFact): Pick<Paging, 'default' | 'max'> {
  const cap = facts.manifest.values.api.limits.list;
  const max = Math.max(1, Math.min(field.directives.list?.max ?? cap, cap));
  return { default: Math.max(1, Math.min(field.directives.list?.default ?? max, max)), max };
}

/** Hasura's name of the order, unless the type has a field of that name. */
function orderWord({ owner, name, field }: FieldFact): Refusal {
  const word = unknownWord(
    `${owner}.${name}(order_by:)`,
    field.args.find((argument) => argument.name === 'order_by')!,
  );
  return new Refusal(`${word.coordinate} is no argument of a list`, {
    code: 'FILTER_WORD',
    words: [word],
  });
}

function addPaging(draft: Draft, part: string, { name, type }: Argument): void {
  if (type.list || !PAGING_TYPES[part]?.includes(type.name))
    throw new Refusal(`the argument ${name} pages, but is ${type.text}`);
  draft.paging = { ...draft.paging, [part]: name };
}

function addArgument(
  shapes: Shapes,
  draft: Draft,
  argument: Argument,
  entity: EntityFact | undefined,
): void {
  const { name, type } = argument;
  if (!entity)
    throw new Refusal(
      `the argument ${name} is not one that pages, and the types listed have different columns`,
    );
  if (WHERE.has(name) && type.kind === 'input' && !type.list)
    draft.where = { arg: name, shape: filterShape(shapes, type.name, entity).id };
  else if (ORDER.has(name) && (type.kind === 'input' || type.kind === 'enum'))
    draft.orderBy = { arg: name, shape: orderShape(shapes, type.name, entity).id };
  else if (DISTINCT.has(name) && type.kind === 'enum' && type.list)
    addDistinct(shapes, draft, argument, entity);
  else addFilter(shapes, draft, argument, entity);
}

/** `distinct: [PostField!]`: each value names a field, in any spelling. */
function addDistinct(
  shapes: Shapes,
  draft: Draft,
  { name, type }: Argument,
  entity: EntityFact,
): void {
  const named = shapes.facts.schema.getType(type.name);
  if (!isEnumType(named)) throw new Refusal(`${type.name} is no enum`);
  const columns: (readonly [value: string, column: string])[] = [];
  let isImplied = true;
  for (const { name: value } of named.getValues()) {
    const column = columnForWord(shapes, entity, value);
    if (column === undefined)
      throw new Refusal(`${type.name}.${value} names no stored field of ${entity.name}`, {
        fix: didYouMean(value, columnNames(shapes, entity)),
      });
    columns.push([value, column]);
    const field = [...entity.fields.keys()].find((each) => enumName(each) === value);
    isImplied &&= field !== undefined && namedColumn(shapes, entity, field)?.column === column;
  }
  draft.distinct = { arg: name, ...(!isImplied && { by: Object.fromEntries(columns) }) };
}

/** `@list(where:)`. Its problems are findings of their own. */
function listCondition(
  shapes: Shapes,
  { directives }: FieldFact,
  entity: EntityFact | undefined,
): Pick<ListOptions, 'condition'> {
  const where = directives.list?.where;
  return where && entity ? { condition: readCondition(shapes, entity, where).condition } : {};
}

function addFilter(
  shapes: Shapes,
  draft: Draft,
  { name, type }: Argument,
  entity: EntityFact,
): void {
  const column = namedColumn(shapes, entity, name);
  if (!column || column.json) {
    const known = [...columnNames(shapes, entity), ...PAGING.keys(), ...WHERE, ...ORDER];
    throw new Refusal(`the argument ${name} is no field of ${entity.name} and does not page`, {
      fix: didYouMean(name, known),
    });
  }
  if (type.list || !takes(shapes, column, type.name))
    throw new Refusal(
      `the argument ${name} is ${type.text}, and ${entity.name}.${column.field.name} is ${column.field.type.text}`,
    );
  draft.filters.push({ arg: name, column: column.column });
}

function defaultOrder(
  shapes: Shapes,
  field: FieldFact,
  entity: EntityFact | undefined,
): ListOptions['order'] {
  const written = field.directives.list?.orderBy ?? [];
  const columns = written.flatMap((text) => {
    const { name, descending } = parseOrder(text);
    const column = entity && namedColumn(shapes, entity, name);
    return column && !column.json ? [{ column: column.column, descending }] : [];
  });
  const isKeyless = entity?.key?.length === 0;
  return isKeyless || columns.some(({ column }) => column === 'id')
    ? columns
    : [...columns, { column: 'id', descending: false }];
}

/** `createdAt DESC` → the field and the direction. */
export function parseOrder(text: string): { readonly name: string; readonly descending: boolean } {
  const [, name = text, direction = 'ASC'] = /^\s*(\w+)\s+(ASC|DESC)\s*$/i.exec(text) ?? [];
  return { name: name.trim(), descending: direction.toUpperCase() === 'DESC' };
}

function filterable(shapes: Shapes, names: readonly string[], entity: EntityFact): string[] {
  return names.flatMap((name) => namedColumn(shapes, entity, name)?.column ?? []);
}
