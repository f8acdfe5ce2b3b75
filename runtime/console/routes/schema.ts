import type { Entity, Field, Project } from '@twofold/schema';
import { type Handler, reply } from '@twofold/runtime/http';
import type { Kernel } from '@twofold/runtime/kernel';

/** `GET /api/system/schema`: the model as data, and the SDL. */
export function describeSchema({ project }: Kernel): Handler {
  let made: ReturnType<typeof schemaOf> | undefined;
  return () => reply(200, (made ??= schemaOf(project)));
}

const schemaOf = (project: Project) => ({
  types: [
    ...project.entities.map(entityType),
    ...project.abstracts.map(({ name, kind, members }) => ({ name, kind, values: members })),
    ...project.enums.map(({ name, values }) => ({ name, kind: 'enum' as const, values })),
  ],
  sdl: project.sdl,
});

function entityType(entity: Entity) {
  const { name, table, plural, fields, rules } = entity;
  return {
    name,
    kind: 'entity' as const,
    table,
    plural,
    fields: fields.flatMap((field) => columnField(entity, field)),
    relations: fields.flatMap(relation),
    access: rules,
  };
}

function columnField({ columns, indexes }: Entity, { name, type, source }: Field) {
  if (source.kind !== 'column') return [];
  const column = columns.find((each) => each.name === source.column);
  return [
    {
      name,
      type: type.text,
      column: column?.stored ?? source.column,
      unique: column?.unique ?? false,
      indexed: indexes.some(({ columns: [first] }) => first === source.column),
      nullable: !type.required,
    },
  ];
}

function relation({ name, source }: Field) {
  if (source.kind !== 'one' && source.kind !== 'many') return [];
  const { kind, entity: to, inverse = null } = source;
  return [{ field: name, to, kind, inverse, column: columnOf(source) }];
}

function columnOf(source: Extract<Field['source'], { kind: 'one' | 'many' }>): string | null {
  if (source.kind === 'one') return source.column;
  return source.via.kind === 'column' ? source.via.column : null;
}
