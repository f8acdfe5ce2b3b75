import type { Entity, Field, Project } from '@twofold/schema';
import { flag, list, object, orNull, text, type ValueOf } from '@twofold/schema/shapes';
import { reply } from '@twofold/runtime/http';
import { flow, READS, whole } from './flow.ts';

const field = whole({
  name: text,
  type: text,
  column: text,
  unique: flag,
  indexed: flag,
  nullable: flag,
});

const related = whole({
  field: text,
  to: text,
  kind: { enum: ['one', 'many'] },
  inverse: orNull('string'),
  column: orNull('string'),
});

const type = object(
  {
    name: text,
    kind: { enum: ['entity', 'interface', 'union', 'enum'] },
    table: text,
    plural: text,
    fields: list(field),
    relations: list(related),
    access: { type: 'array' },
    values: { ...list(text), description: 'Of an enum; of an interface or union its types' },
  },
  ['name', 'kind'],
);

const described = whole({ types: list(type), sdl: text });

export type Described = ValueOf<typeof described>;
export type DescribedType = ValueOf<typeof type>;
export type DescribedField = ValueOf<typeof field>;
export type DescribedRelation = ValueOf<typeof related>;

export const systemSchema = flow('GET /api/system/schema', {
  ...READS,
  summary: 'The types of the schema with their tables, columns and relations, and the SDL',
  answers: { 200: ['The schema', described] },
  handle: (_call, { kernel: { project } }) => reply(200, schemaOf(project)),
});

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
