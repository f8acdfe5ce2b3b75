import type { Built } from '../build/built.ts';
import type { EntityFact } from '../build/facts.ts';
import type { CrudOperation } from '../directives/crud.ts';
import { isFiltered } from './filters.ts';
import { signature, type CrudItem, type FieldLine } from './item.ts';
import { keyArguments } from './keys.ts';
import { readNames, typeName } from './names.ts';
import { crudOperations } from './operations.ts';
import { fieldItem, orderItem } from './orders.ts';
import { relationFields } from './stored-fields.ts';
import { writes } from './write-fields.ts';

/** The root types that the added fields extend. */
export interface Roots {
  readonly query: string;
  readonly mutation: string;
}

/**
 * The fields of the roots for one type, in the order of the operations.
 *
 * @example rootFields(built, post, roots).map(({ name }) => name) // ['Query.post', 'Query.posts', …]
 */
export function rootFields(built: Built, entity: EntityFact, roots: Roots): CrudItem[] {
  const operations = crudOperations(built.facts, entity);
  const item = (owner: string) => (line: FieldLine) => ({
    name: `${owner}.${line.name}`,
    keyword: 'type' as const,
    owner,
    of: entity,
    text: signature(line.name, line.args, line.type) + (line.directive ?? ''),
  });
  return [
    ...reads(built, entity, operations).map(item(roots.query)),
    ...writes(built, entity, operations).map((line) => ({
      ...item(roots.mutation)(line),
      writes: true as const,
    })),
  ];
}

function reads(
  built: Built,
  entity: EntityFact,
  operations: ReadonlySet<CrudOperation>,
): FieldLine[] {
  const { name } = entity;
  const { list, connection, aggregate, groups } = readNames(built, entity);
  const found = [...whereOf(built, entity), ...searchOf(entity)];
  const chosen = [...found, ...orderOf(built, entity)];
  const lines: (FieldLine & { readonly operation: CrudOperation })[] = [
    { operation: 'GET', name: entity.singular, args: keyArguments(built, entity), type: name },
    {
      operation: 'LIST',
      name: list,
      args: [...chosen, ...distinctOf(built, entity), 'limit: Int', 'offset: Int'],
      type: `[${name}!]!`,
    },
    {
      operation: 'CONNECTION',
      name: connection,
      args: [...chosen, ...CURSORS],
      type: `${typeName(built, entity, 'Connection')}!`,
    },
    {
      operation: 'AGGREGATE',
      name: aggregate,
      args: found,
      type: `${typeName(built, entity, 'Aggregate')}!`,
    },
    {
      operation: 'GROUP',
      name: groups,
      args: [...found, ...groupingOf(built, entity), 'limit: Int', 'offset: Int'],
      type: `[${typeName(built, entity, 'Group')}!]!`,
    },
  ];
  return lines.filter(({ operation }) => operations.has(operation));
}

const CURSORS = ['first: Int', 'after: String', 'last: Int', 'before: String'];

const groupingOf = (built: Built, entity: EntityFact): string[] => [
  `by: [${typeName(built, entity, 'GroupBy')}!]!`,
  `having: ${typeName(built, entity, 'GroupFilter')}`,
  `orderBy: [${typeName(built, entity, 'GroupOrder')}!]`,
];

const searchOf = ({ directives }: EntityFact): string[] =>
  directives.search ? ['search: String'] : [];

const whereOf = (built: Built, entity: EntityFact): string[] =>
  isFiltered(built, entity) ? [`where: ${typeName(built, entity, 'Filter')}`] : [];

const orderOf = (built: Built, entity: EntityFact): string[] =>
  orderItem(built, entity) ? [`orderBy: [${typeName(built, entity, 'Order')}!]`] : [];

const distinctOf = (built: Built, entity: EntityFact): string[] =>
  fieldItem(built, entity) ? [`distinct: [${typeName(built, entity, 'Field')}!]`] : [];

/**
 * A connection beside each list of entities, `User.postsConnection` beside `User.posts`.
 *
 * @example nestedFields(built, user).map(({ name }) => name) // ['User.postsConnection']
 */
export function nestedFields(built: Built, entity: EntityFact): CrudItem[] {
  if (!crudOperations(built.facts, entity).has('CONNECTION')) return [];
  return relationFields(built, entity).flatMap(({ field, target, many }) => {
    if (!many || !field.type.list || !isConnected(built, target)) return [];
    const found = [...whereOf(built, target), ...searchOf(target)];
    const args = [...found, ...orderOf(built, target), ...CURSORS];
    const name = `${field.name}Connection`;
    return {
      name: `${entity.name}.${name}`,
      keyword: 'type' as const,
      owner: entity.name,
      of: entity,
      text: signature(name, args, `${typeName(built, target, 'Connection')}!`),
    };
  });
}

/**
 * Whether a type has connections. If its own `@crud` leaves them out, other types have no
 * connection of its rows either.
 */
const isConnected = ({ facts }: Built, target: EntityFact): boolean =>
  target.key?.length !== 0 &&
  (crudOperations(facts, target).has('CONNECTION') ||
    (!target.directives.crud && facts.manifest.values.api.crud === false));
