import type { Entity, Field, Operation, Project } from '@twofold/schema';
import { code, type Code, runtime } from '../../templates/code.ts';
import { propertyName, str } from '../../templates/literal.ts';
import { rootNames } from '../../templates/owned/type-names.ts';

/** A function for the user's file that does what the server does for the field without it. */
export interface Ejected {
  readonly member: Code;
  /** Names of the runtime that the function uses. */
  readonly imports: readonly RuntimeName[];
}

export type RuntimeName = 'AppError' | 'inferred';

/**
 * `nothing`: the schema has no such field. `events`: a subscription is fed by changes of rows, so
 * no function can replace it.
 */
export type Ejection = Ejected | 'nothing' | 'events';

/** @example ejectedField('Post.author', project) // author: (parent, args, ctx, info) => … */
export function ejectedField(coordinate: string, project: Project): Ejection {
  const [type = '', name = ''] = coordinate.split('.');
  const entity = project.entities.find((each) => each.name === type);
  const field = entity?.fields.find((each) => each.name === name);
  if (entity && field) return ofField(entity, field, project);
  const roots = rootNames(project);
  const operation = project.operations.find(
    (each) => each.name === name && roots[each.root] === type,
  );
  return operation ? ofOperation(operation, coordinate) : 'nothing';
}

function ofField(entity: Entity, { name, source, args }: Field, project: Project): Ejected {
  if (source.kind === 'custom') return placeholderMember(`${entity.name}.${name}`, name);
  if (source.kind === 'column' && name !== 'id')
    return { member: code`${propertyName(name)}: (parent) => parent${access(name)}`, imports: [] };
  if (source.kind === 'search') return inferredMember(name, 'What the search found.');
  const about =
    source.kind === 'column'
      ? 'The key as the caller knows it.'
      : `${source.kind === 'many' ? 'The rows' : 'The row'} of ${tableOf(source.entity, project)} behind this one, ` +
        `read for all its neighbours at once${args.length > 0 ? '; args may be others' : ''}.`;
  return inferredMember(name, about);
}

const tableOf = (entity: string, { entities }: Project) =>
  entities.find(({ name }) => name === entity)?.table ?? entity;

function ofOperation({ name, action }: Operation, coordinate: string): Ejection {
  switch (action.kind) {
    case 'custom':
      return placeholderMember(coordinate, name);
    case 'subscribe':
      return 'events';
    case 'create':
    case 'update':
    case 'remove':
    case 'upsert':
    case 'createMany':
    case 'updateMany':
    case 'removeMany':
      return inferredMember(
        name,
        'Checks the arguments and who calls, ' +
          `then ${DOES[action.kind]} ${action.entity} in one transaction. args may be others.`,
      );
    default:
      return inferredMember(
        name,
        'One statement for everything that is asked for below, as far as the caller may see it. args may be others.',
      );
  }
}

const DOES = {
  create: 'inserts one',
  update: 'changes one',
  remove: 'removes one',
  upsert: 'changes or inserts one',
  createMany: 'inserts several',
  updateMany: 'changes several',
  removeMany: 'removes several',
} as const;

/** The inferred action with the rules of the schema; the user adds code before and after it. */
function inferredMember(name: string, about: string): Ejected {
  const member = code`
    // ${about}
    ${propertyName(name)}: async (parent, args, ctx, info) => {
      return ${runtime('inferred')}(parent, args, ctx, info);
    }
  `;
  return { member, imports: ['inferred'] };
}

function placeholderMember(coordinate: string, name: string): Ejected {
  const member = code`
    ${propertyName(name)}: () => {
      // Write it here. Until then a request for it gets NOT_IMPLEMENTED.
      throw new ${runtime('AppError')}(501, 'NOT_IMPLEMENTED', ${str(`${coordinate} is not written yet`)});
    }
  `;
  return { member, imports: ['AppError'] };
}

function access(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `[${str(name)}]`;
}
