import type { Built } from '../build/built.ts';
import type { EntityFact } from '../build/facts.ts';
import type { CrudOperation } from '../directives/crud.ts';
import { isFiltered } from './filters.ts';
import { createInput, isReadOnly, updateInput } from './inputs.ts';
import type { FieldLine } from './item.ts';
import { keyArguments } from './keys.ts';
import { typeName, writeNames } from './names.ts';

type WriteLine = FieldLine & { readonly operation: CrudOperation };

/**
 * The mutations of a type that its operations ask for.
 *
 * @example writes(built, post, new Set(['DELETE'])) // [{ name: 'deletePost', args: ['id: ID!'], type: 'Boolean!' }]
 */
export function writes(
  built: Built,
  entity: EntityFact,
  operations: ReadonlySet<CrudOperation>,
): FieldLine[] {
  if (isReadOnly(entity)) return [];
  const lines = [...writesOfOne(built, entity), ...writesOfMany(built, entity)];
  return lines.filter(
    ({ operation, name: field }) =>
      operations.has(operation) && !isDoneElsewhere(built, entity, operation, field),
  );
}

function writesOfOne(built: Built, entity: EntityFact): WriteLine[] {
  const { name: type } = entity;
  const names = writeNames(entity);
  const key = keyArguments(built, entity);
  const [create, update] = [createInput(built, entity)?.name, updateInput(built, entity)?.name];
  const lines: WriteLine[] = [];
  if (create !== undefined)
    lines.push({
      operation: 'CREATE',
      name: names.create,
      args: [`input: ${create}!`],
      type: `${type}!`,
    });
  if (update !== undefined)
    lines.push({
      operation: 'UPDATE',
      name: names.update,
      args: [...key, `input: ${update}!`],
      type,
    });
  lines.push({ operation: 'DELETE', name: names.remove, args: key, type: 'Boolean!' });
  if (create !== undefined && update !== undefined)
    lines.push({
      operation: 'UPSERT',
      name: names.upsert,
      args: [
        `where: ${typeName(built, entity, 'KeyInput')}!`,
        `create: ${create}!`,
        `update: ${update}!`,
      ],
      type: `${type}!`,
    });
  return lines;
}

function writesOfMany(built: Built, entity: EntityFact): WriteLine[] {
  const { name: type } = entity;
  const names = writeNames(entity);
  const [create, update] = [createInput(built, entity)?.name, updateInput(built, entity)?.name];
  const lines: (WriteLine | undefined)[] = [
    create === undefined
      ? undefined
      : {
          operation: 'CREATE_MANY',
          name: names.createMany,
          args: [`input: [${create}!]!`, 'skipDuplicates: Boolean'],
          type: `[${type}!]!`,
        },
    update === undefined || !isFiltered(built, entity)
      ? undefined
      : {
          operation: 'UPDATE_MANY',
          name: names.updateMany,
          args: [`where: ${typeName(built, entity, 'Filter')}!`, `input: ${update}!`],
          type: 'Int!',
        },
    isFiltered(built, entity)
      ? {
          operation: 'DELETE_MANY',
          name: names.removeMany,
          args: [`where: ${typeName(built, entity, 'Filter')}!`],
          type: 'Int!',
        }
      : undefined,
  ];
  const isUncountable = entity.plural === entity.singular;
  return lines.flatMap((line) =>
    line ? [isUncountable ? { ...line, directive: resolved(line.operation, type) } : line] : [],
  );
}

/**
 * A word such as `sheep` has no plural, so no name of a field says that it is about many of them.
 */
const resolved = (operation: CrudOperation, type: string): string =>
  ` @resolve(as: ${operation}, of: "${type}")`;

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
 * Whether the user has the same mutation under another name, such as `addPost`. It is then not
 * added, because the added one would lack the user's rules.
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
