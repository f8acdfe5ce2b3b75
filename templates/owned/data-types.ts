import { type Column, createMemory, type Entity, type Project, remembered } from '@twofold/schema';
import { code, type Code, join, runtimeType } from '../code.ts';
import { propertyName } from '../literal.ts';
import { sorted } from './model.ts';
import { memberName, memberType, namedInRows } from './rows.ts';
import type { TypeNames } from './type-names.ts';

/** The types of `ctx.data`: for each entity its row, its unique keys and its relations. */
export function renderData(project: Project, names: TypeNames): Code {
  const entities = sorted(project.entities, ({ name }) => name);
  const given = [...namedInRows(project, names), entities.map(({ name }) => name).join(' ')];
  return join(
    [
      code`
        /** \`ctx.data\`: rows with the checks, rules and events of the API. */
        export interface Data {
          ${entities.map(({ name, singular }) => code`readonly ${propertyName(singular)}: ${runtimeType('EntityData')}<${names(name)}Shape>;`)}
        }
      `,
      ...entities.map((entity) =>
        printed(entity, given, () => renderShape(entity, project, names)),
      ),
    ],
    '\n\n',
  );
}

const printed = createMemory<Entity, Code>();

function renderShape(entity: Entity, project: Project, names: TypeNames): Code {
  return code`
    /** What \`ctx.data.${entity.singular}\` takes and returns. */
    export interface ${names(entity.name)}Shape {
      row: ${names(entity.name)}Row;
      key: ${uniqueKeys(entity)
        .map((columns) => keyType(columns, project, names))
        .join(' | ')};
      one: ${relations(entity, 'one', { project, names })};
      many: ${relations(entity, 'many', { project, names })};
      ${readOnly(entity)}
      ${hasTally(entity) && code`tally: ${tallies(entity)};`}
      ${named('times', entity, ({ type }) => type === 'timestamp' || type === 'date')}
      ${named('exact', entity, ({ type, list }) => !list && (type === 'bigint' || type === 'decimal'))}
      ${named('version', entity, ({ version }) => version === true)}
      ${entity.search && 'search: true;'}
    }
  `;
}

function uniqueKeys({ columns, indexes }: Entity): (readonly Column[])[] {
  const named = (wanted: readonly string[]) =>
    wanted.flatMap((name) => columns.find((column) => column.name === name) ?? []);
  return [
    named(['id']),
    ...columns.filter(({ unique }) => unique).map((column) => [column]),
    ...indexes.filter(({ unique, fold }) => unique && !fold).map((index) => named(index.columns)),
  ];
}

function keyType(columns: readonly Column[], project: Project, names: TypeNames): string {
  const members = columns.map(
    (column) => `${propertyName(memberName(column))}: ${memberType(column, { project, names })}`,
  );
  return `{ ${members.join('; ')} }`;
}

/** The lists whose table is written by a capability, such as the members of an organization. */
function readOnly({ fields }: Entity): string | false {
  const names = fields.flatMap(({ name, source }) =>
    source.kind === 'many' && source.via.kind === 'table' && source.via.managed
      ? [`'${name}'`]
      : [],
  );
  return names.length > 0 && `readOnly: ${names.join(' | ')};`;
}

/** Fields of a kind. Those of `times` and `exact` are text in rows: times, for which a `Date` may be given, and numbers. */
function named(member: string, { columns }: Entity, are: (column: Column) => boolean) {
  const names = columns.filter(are).map((column) => `'${memberName(column)}'`);
  return names.length > 0 && `${member}: ${names.join(' | ')};`;
}

const hasTally = ({ fields }: Entity) => fields.some(({ source }) => source.kind === 'tally');

function tallies({ fields }: Entity): string {
  const members = fields.flatMap(({ name, source }) =>
    source.kind === 'tally'
      ? [`${propertyName(name)}: ${source.of === 'count' ? 'number' : 'boolean'}`]
      : [],
  );
  return `{ ${members.join('; ')} }`;
}

const entityNames = remembered(
  ({ entities }: Project) => new Set(entities.map(({ name }) => name)),
);

function relations(
  { fields }: Entity,
  kind: 'one' | 'many',
  { project, names }: { readonly project: Project; readonly names: TypeNames },
): string {
  const known = entityNames(project);
  const members = fields.flatMap(({ name, source }) =>
    source.kind === kind && known.has(source.entity)
      ? [`${propertyName(name)}: ${names(source.entity)}Shape`]
      : [],
  );
  return members.length === 0 ? '{}' : `{ ${members.join('; ')} }`;
}
