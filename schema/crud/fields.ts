import type { Built } from '../build/built.ts';
import type { EntityFact } from '../build/facts.ts';
import type { CrudOperation } from '../directives/crud.ts';
import { isFiltered } from './filters.ts';
import { createInput, isReadOnly, updateInput } from './inputs.ts';
import { signature } from './item.ts';
import type { CrudItem } from './item.ts';
import { keyInput } from './keys.ts';
import { readNames, writeNames } from './names.ts';
import { crudOperations } from './operations.ts';
import { orderItem } from './orders.ts';

/** The types that the written fields extend. */
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
  const item = (owner: string) => (line: Line) => ({
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

interface Line {
  readonly name: string;
  readonly args: readonly string[];
  readonly type: string;
  readonly directive?: string;
}

function reads(built: Built, entity: EntityFact, operations: ReadonlySet<CrudOperation>): Line[] {
  const { name } = entity;
  const { list, connection } = readNames(entity);
  const chosen = [...whereOf(built, entity), ...orderOf(built, entity)];
  const lines: (Line & { readonly operation: CrudOperation })[] = [
    { operation: 'GET', name: entity.singular, args: keyInput(built, entity), type: name },
    {
      operation: 'LIST',
      name: list,
      args: [...chosen, 'limit: Int', 'offset: Int'],
      type: `[${name}!]!`,
    },
    {
      operation: 'CONNECTION',
      name: connection,
      args: [...chosen, ...CURSORS],
      type: `${name}Connection!`,
    },
  ];
  return lines.filter(({ operation }) => operations.has(operation));
}

export const CURSORS = ['first: Int', 'after: String', 'last: Int', 'before: String'];

const whereOf = (built: Built, entity: EntityFact): string[] =>
  isFiltered(built, entity) ? [`where: ${entity.name}Filter`] : [];

const orderOf = (built: Built, entity: EntityFact): string[] =>
  orderItem(built, entity) ? [`orderBy: [${entity.name}Order!]`] : [];

function writes(built: Built, entity: EntityFact, operations: ReadonlySet<CrudOperation>): Line[] {
  if (isReadOnly(entity)) return [];
  const { name } = entity;
  const names = writeNames(entity);
  const key = keyInput(built, entity);
  const lines: (Line & { readonly operation: CrudOperation })[] = [];
  if (createInput(built, entity))
    lines.push({
      operation: 'CREATE',
      name: names.create,
      args: [`input: Create${name}Input!`],
      type: `${name}!`,
    });
  if (updateInput(built, entity))
    lines.push({
      operation: 'UPDATE',
      name: names.update,
      args: [...key, `input: Update${name}Input!`],
      type: name,
    });
  lines.push({ operation: 'DELETE', name: names.remove, args: key, type: 'Boolean!' });
  return lines.filter(
    ({ operation, name: field }) =>
      operations.has(operation) && !isDoneElsewhere(built, entity, operation, field),
  );
}

const ACTIONS: Partial<Record<CrudOperation, string>> = {
  CREATE: 'create',
  UPDATE: 'update',
  DELETE: 'remove',
  UPSERT: 'upsert',
  CREATE_MANY: 'createMany',
  UPDATE_MANY: 'updateMany',
  DELETE_MANY: 'removeMany',
};

/**
 * A mutation of the user under another name, as `addPost`, stands for the written one: beside it, a
 * second one would have none of its rules.
 */
function isDoneElsewhere(
  { operations, facts }: Built,
  { name }: EntityFact,
  operation: CrudOperation,
  field: string,
): boolean {
  if (facts.schema.getMutationType()?.getFields()[field]) return false;
  return operations.some(
    ({ operation: { root, action } }) =>
      root === 'mutation' &&
      'entity' in action &&
      action.entity === name &&
      action.kind === ACTIONS[operation],
  );
}
