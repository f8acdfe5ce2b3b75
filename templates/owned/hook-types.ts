import { type Entity, type Project, remembered, shapeOwner, type Write } from '@twofold/schema';
import { code, type Code, raw, runtimeType } from '../code.ts';
import { str } from '../literal.ts';
import { sorted } from './model.ts';
import { memberName } from './rows.ts';
import type { TypeNames } from './type-names.ts';

/** The types of the files in `src/hooks/`, one for each entity. */
export function renderHooks(project: Project, names: TypeNames): Code {
  if (project.entities.length === 0) return raw('');
  return code`
    // What the files of \`src/hooks/\` may hold.
    ${sorted(project.entities, ({ name }) => name).map((entity) => renderEntity(entity, project, names))}
  `;
}

function renderEntity(entity: Entity, project: Project, names: TypeNames): Code {
  const { given, demanded } = requiredOf(entity, project);
  const name = names(entity.name);
  return code`
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

/** The columns that each create of an entity sets. */
const createsOf = (entity: Entity, project: Project): readonly ReadonlySet<string>[] =>
  createsByEntity(project).get(entity.name) ?? [];

const entitiesByName = remembered(
  (project: Project) => new Map(project.entities.map((entity) => [entity.name, entity])),
);

const shapesByEntity = remembered((project: Project) =>
  Map.groupBy(project.writes, ({ entity }) => entity),
);

/** An input that creates rows, and the column that links them to the row above it. */
interface Create {
  readonly shape: string;
  readonly parent: string | undefined;
}

const createsByEntity = remembered((project: Project) => {
  const shapes = new Map(project.writes.map((shape) => [shape.id, shape]));
  const sets = new Map<string, Set<string>[]>();
  for (const { shape: id, parent } of [...rootCreates(project), ...nestedCreates(project)]) {
    const shape = shapes.get(id);
    const entity = shape && entitiesByName(project).get(shape.entity);
    if (!entity) continue;
    const columns = shape.writes.flatMap((write) => columnOf(entity, write));
    const set = new Set(parent === undefined ? columns : [...columns, parent]);
    sets.set(entity.name, [...(sets.get(entity.name) ?? []), set]);
  }
  return sets;
});

const rootCreates = ({ operations }: Project): Create[] =>
  operations.flatMap(({ action }) =>
    action.kind === 'create' || action.kind === 'createMany'
      ? [{ shape: action.write, parent: undefined }]
      : action.kind === 'upsert'
        ? [{ shape: action.create.write, parent: undefined }]
        : [],
  );

const nestedCreates = (project: Project): Create[] =>
  project.writes.flatMap((shape) => {
    const entity = entitiesByName(project).get(shape.entity);
    return shape.writes.flatMap((write) => createsBelow(entity, write));
  });

function createsBelow(entity: Entity | undefined, write: Write): Create[] {
  if (write.kind !== 'nested') return [];
  const source = entity?.fields.find(({ name }) => name === write.field)?.source;
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
  const shapes = shapesByEntity(project).get(entity.name) ?? [];
  const parts = shapes.flatMap(({ id, writes }) => {
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
