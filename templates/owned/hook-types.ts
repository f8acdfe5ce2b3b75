import {
  type Entity,
  type Project,
  shapeOwner,
  type Write,
  type WriteShape,
} from '@twofold/schema';
import { code, type Code, join, runtimeType } from '../code.ts';
import { str } from '../literal.ts';
import { sorted } from './model.ts';
import { memberName } from './rows.ts';
import type { TypeNames } from './type-names.ts';

/** The types of the files in `src/hooks/`, one for each entity. */
export function renderHooks(project: Project, names: TypeNames): Code {
  return join(
    sorted(project.entities, ({ name }) => name).map((entity) =>
      renderEntity(entity, project, names),
    ),
    '\n\n',
  );
}

function renderEntity(entity: Entity, project: Project, names: TypeNames): Code {
  const { given, demanded } = requiredOf(entity, project);
  const name = names(entity.name);
  return code`
    /** What \`src/hooks/${entity.name}.ts\` may hold. */
    export type ${name}Hooks = ${runtimeType('HooksOf')}<{ shape: ${name}Shape; context: Context; given: ${union(given)}; demanded: ${union(demanded)}; extra: ${extraOf(entity, project, names)} }>;
  `;
}

const union = (names: readonly string[]) =>
  names.length === 0 ? 'never' : names.map(str).join(' | ');

/** Required fields that every create sets, and those that some create leaves to a hook. */
function requiredOf(
  entity: Entity,
  project: Project,
): { given: readonly string[]; demanded: readonly string[] } {
  const creates = createsOf(entity, project);
  if (creates.length === 0) return { given: [], demanded: [] };
  const owners = entity.rules.flatMap(({ owner, on }) =>
    owner !== undefined && (on.length === 0 || on.includes('CREATE')) ? [owner] : [],
  );
  const required = entity.columns.filter(
    (column) => column.required && !column.default && !column.stamp && column.name !== 'id',
  );
  const isSet = (column: string) => creates.every((set) => set.has(column));
  return {
    given: required.filter(({ name }) => isSet(name)).map(memberName),
    demanded: required.filter(({ name }) => !isSet(name) && !owners.includes(name)).map(memberName),
  };
}

/** The columns that each create of the entity sets. */
function createsOf(entity: Entity, project: Project): ReadonlySet<string>[] {
  const shapes = new Map(project.writes.map((shape) => [shape.id, shape]));
  const ofRoots = project.operations.flatMap(({ action }) =>
    action.kind === 'create' || action.kind === 'createMany'
      ? [{ shape: action.write, parent: undefined }]
      : action.kind === 'upsert'
        ? [{ shape: action.create.write, parent: undefined }]
        : [],
  );
  const nested = project.writes.flatMap((shape) =>
    shape.writes.flatMap((write) => below(shape, write, project)),
  );
  return [...ofRoots, ...nested].flatMap(({ shape: id, parent }) => {
    const shape = shapes.get(id);
    if (shape?.entity !== entity.name) return [];
    const columns = shape.writes.flatMap((write) => columnOf(entity, write));
    return [new Set(parent === undefined ? columns : [...columns, parent])];
  });
}

/** What a nested input creates, and the column of the new row that links it. */
function below({ entity: of }: WriteShape, write: Write, { entities }: Project) {
  if (write.kind !== 'nested') return [];
  const source = entities
    .find(({ name }) => name === of)
    ?.fields.find(({ name }) => name === write.field)?.source;
  const parent =
    source?.kind === 'one' && source.key === 'inverse'
      ? source.column
      : source?.kind === 'many' && source.via.kind === 'column'
        ? source.via.column
        : undefined;
  return [write.create, write.connectOrCreate?.create].flatMap((create) =>
    create ? [{ shape: create.shape, parent }] : [],
  );
}

function columnOf(entity: Entity, write: Write): string[] {
  if (write.kind === 'column') return [write.column];
  if (write.kind !== 'key' && write.kind !== 'nested') return [];
  const source = entity.fields.find(({ name }) => name === write.field)?.source;
  return source?.kind === 'one' && source.key === 'own' ? [source.column] : [];
}

/** The members of inputs that `@computed` keeps for hooks. */
function extraOf(entity: Entity, project: Project, names: TypeNames): string {
  const parts = project.writes
    .filter((shape) => shape.entity === entity.name)
    .flatMap(({ id, writes }) => {
      const own = writes.flatMap(({ kind, name }) =>
        kind === 'ignored' && name !== 'clientMutationId' ? [name] : [],
      );
      const owner = shapeOwner(id);
      if (own.length === 0) return [];
      return owner.includes('.')
        ? [`{ ${own.map((name) => `${name}: any`).join('; ')} }`]
        : [`Pick<${names(owner)}, ${union(own)}>`];
    });
  return parts.length === 0 ? 'object' : [...new Set(parts)].join(' & ');
}
