import {
  camelCase,
  createMemory,
  type Column,
  type Entity,
  type IdKind,
  type Project,
  type Table,
  type TableColumn,
} from '@twofold/schema';
import { code, type Code, join } from '../code.ts';
import { propertyName, str } from '../literal.ts';
import { sorted } from './model.ts';
import { scalarType, valueType } from './scalar-types.ts';
import type { TypeNames } from './type-names.ts';

/** The types of the tables, for `ctx.db`: names and values as in the database. */
export function renderDatabase(tables: readonly Table[], ids: IdKind): Code {
  return code`
    /** The tables of \`ctx.db\`, with the names and values of the database. */
    export interface Database {
      ${sorted(tables, ({ name }) => name).map((table) => printed(table, [ids], () => renderTable(table, ids)))}
    }
  `;
}

const printed = createMemory<Entity | Table, Code>();

function renderTable(table: Table, ids: IdKind): Code {
  return code`
    ${propertyName(table.name)}: {
      ${table.columns.map((column) => code`${propertyName(column.name)}: ${tableColumnType(column, { table, ids })};`)}
    };
  `;
}

/**
 * The types of rows, which resolvers get as the parent and loaders return: fields that are columns,
 * and foreign keys by column.
 */
export function renderRows(project: Project, names: TypeNames): Code {
  const named = [...project.enums, ...project.objects].map(({ name }) => name).join(' ');
  const given = [names, project.ids, project.scalars, named];
  const rows = sorted(project.entities, ({ name }) => name).map((entity) =>
    printed(entity, given, () => renderRow(entity, project, names)),
  );
  return join(rows, '\n\n');
}

function renderRow(entity: Entity, project: RowTypes, names: TypeNames): Code {
  return code`
    /** A row of \`${entity.table}\`: the fields that are columns, and the foreign keys. */
    export interface ${names(entity.name)}Row {
      ${entity.columns.map((column) => code`${rowMember(column, { project, names })}`)}
    }
  `;
}

/** The parts of the project that determine the type of a column. */
type RowTypes = Pick<Project, 'ids' | 'enums' | 'objects' | 'scalars'>;

function tableColumnType(column: TableColumn, { table, ids }: { table: Table; ids: IdKind }): Code {
  const type = `${column.values ? column.values.map(str).join(' | ') : valueType(column.type, ids)}${column.required ? '' : ' | null'}`;
  const key =
    table.primaryKey.length === 1 && table.primaryKey[0] === column.name && ids === 'integer';
  if (column.type === 'json')
    return code`${kyselyType('ColumnType')}<${type}, string${column.required ? '' : ' | null'}>`;
  return key || column.default?.kind === 'value'
    ? code`${kyselyType('Generated')}<${type}>`
    : code`${type}`;
}

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
  if (type === 'id') return project.ids === 'integer' ? 'number | string' : 'string';
  if (
    project.enums.some(({ name }) => name === scalar) ||
    project.objects.some(({ name }) => name === scalar)
  )
    return names(scalar);
  const stored = project.scalars.find(({ name }) => name === scalar);
  if (stored?.source === 'user') return 'any';
  return scalar === 'ID' ? 'string' : scalarType(scalar, stored?.column ?? type, project.ids);
}

function kyselyType(name: 'ColumnType' | 'Generated'): Code {
  return { text: name, imports: [{ from: '@twofold/runtime', name, as: name, typeOnly: true }] };
}
