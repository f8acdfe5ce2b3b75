import {
  camelCase,
  createMemory,
  type Column,
  type Entity,
  type IdKind,
  type Project,
  remembered,
  type Table,
} from '@twofold/schema';
import { code, type Code, join, runtimeType } from '../code.ts';
import { propertyName, str } from '../literal.ts';
import { sorted } from './model.ts';
import { scalarType } from './scalar-types.ts';
import type { TypeNames } from './type-names.ts';

/** The types of the tables, for `ctx.db`: the names of the schema, and the rows of own code. */
export function renderDatabase(tables: readonly Table[], project: Project, names: TypeNames): Code {
  const { ids } = project;
  const entities = new Map(project.entities.map((entity) => [keyOf(entity.table, entity), entity]));
  return code`
    /** The tables of \`ctx.db\`, with the names of the schema. */
    export interface Database {
      ${sorted(tables, ({ name }) => name).map((table) => {
        const entity = entities.get(keyOf(table.name, table));
        return entity
          ? printed(table, [ids, names, entity], () => renderTable(entity, ids, names))
          : printed(table, namedInRows(project, names), () =>
              renderJoinTable(table, (column) => {
                const of = referredColumn(table, column, project);
                return of ? memberType(of, { project, names }) : 'string';
              }),
            );
      })}
    }
  `;
}

/** A table of another schema of PostgreSQL has its name in front: `music.track`. */
const keyOf = (name: string, { schema }: { readonly schema?: string }): string =>
  schema === undefined ? camelCase(name) : `${schema}.${camelCase(name)}`;

const printed = createMemory<Entity | Table, Code>();

function renderTable(entity: Entity, ids: IdKind, names: TypeNames): Code {
  const named = (columns: readonly Column[]) =>
    columns.map((column) => str(memberName(column))).join(' | ');
  const optional = named(entity.columns.filter((column) => isGenerated(column, ids)));
  const json = named(entity.columns.filter(({ type }) => type === 'json'));
  const parameters = json ? [optional || 'never', json] : optional ? [optional] : [];
  const given = [`${names(entity.name)}Row`, ...parameters].join(', ');
  return code`${propertyName(keyOf(entity.table, entity))}: ${runtimeType('TableOf')}<${given}>;`;
}

/** Whether the database makes the value when an insert leaves it out. */
const isGenerated = ({ name, default: given }: Column, ids: IdKind): boolean =>
  (name === 'id' && ids === 'integer') || given?.kind === 'value';

/** The column of an entity that a column of a join table has its value from. */
function referredColumn(
  { foreignKeys = [] }: Table,
  { name, references }: Table['columns'][number],
  { entities }: Project,
): Column | undefined {
  const whole = foreignKeys.find(({ columns }) => columns.includes(name));
  const table = references?.table ?? whole?.table;
  const column = references?.column ?? whole?.references[whole.columns.indexOf(name)];
  return entities
    .find((entity) => entity.table === table)
    ?.columns.find((each) => (each.stored ?? each.name) === column);
}

function renderJoinTable(table: Table, typeOf: (column: Table['columns'][number]) => string): Code {
  const { name, columns } = table;
  const keys = columns.map(
    (column) => `${propertyName(camelCase(column.name))}: ${typeOf(column)};`,
  );
  return code`
    ${propertyName(keyOf(name, table))}: {
      ${keys}
    };
  `;
}

/**
 * The types of rows, which resolvers get as the parent and loaders return: fields that are columns,
 * and foreign keys by column.
 */
export function renderRows(project: Project, names: TypeNames): Code {
  const given = namedInRows(project, names);
  const rows = sorted(project.entities, ({ name }) => name).map((entity) =>
    printed(entity, given, () => renderRow(entity, project, names)),
  );
  return join(rows, '\n\n');
}

/** What the types of columns depend on, beside the columns: the key of a cache. */
export const namedInRows = (project: Project, names: TypeNames): readonly unknown[] => [
  names,
  project.scalars,
  [...declaredNames(project)].join(' '),
];

function renderRow(entity: Entity, project: RowTypes, names: TypeNames): Code {
  return code`
    /** A row of \`${entity.table}\`: the fields that are columns, and the foreign keys. */
    export interface ${names(entity.name)}Row {
      ${entity.columns.map((column) => code`${rowMember(column, { project, names })}`)}
    }
  `;
}

/** The parts of the project that determine the type of a column. */
type RowTypes = Pick<Project, 'enums' | 'objects' | 'scalars'>;

/** The enums and objects, which `types.ts` declares under their names. */
const declaredNames = remembered(
  ({ enums, objects }: RowTypes) => new Set([...enums, ...objects].map(({ name }) => name)),
);

function rowMember(
  column: Column,
  { project, names }: { project: RowTypes; names: TypeNames },
): string {
  const optional = column.name === 'id' || column.required ? '' : '?';
  const single = memberType(column, { project, names });
  const type = column.list ? `${/^\w+$/.test(single) ? single : `(${single})`}[]` : single;
  return `${propertyName(memberName(column))}${optional}: ${type}${optional === '' ? '' : ' | null'};`;
}

/** The name of a column in rows of the project's own code. */
export const memberName = ({ field, name }: Column): string => field ?? camelCase(name);

export function memberType(
  { scalar, type }: Column,
  { project, names }: { project: RowTypes; names: TypeNames },
): string {
  if (type === 'id') return scalar === 'Int' ? 'number' : 'string';
  if (declaredNames(project).has(scalar)) return names(scalar);
  const stored = project.scalars.find(({ name }) => name === scalar);
  return scalar === 'ID' ? 'string' : scalarType(scalar, stored?.column ?? type);
}
