import type { Project, Column, Entity, TimeForm } from '@twofold/schema';
import { timeFormOf } from '@twofold/runtime/data';
import { quotedName, type Store } from '@twofold/runtime/store';
import { catalogSource, readCatalog } from '../catalog/read-catalog.ts';
import { adopt, type Adopted } from './adopt.ts';

/** Reads the catalog of a database that others made, and compares the model with it. */
export async function adoptDatabase(project: Project, { db }: Store): Promise<Adopted> {
  const named = [
    ...project.entities.map(({ schema }) => schema),
    ...project.entities.flatMap(({ fields }) =>
      fields.map(({ source }) =>
        source.kind === 'many' && source.via.kind === 'table' ? source.via.schema : undefined,
      ),
    ),
  ].filter((schema) => schema !== undefined);
  const source = catalogSource(db);
  const schemas = new Set([...(await searchPath(source)), ...named]);
  const adopted = adopt(project, await readCatalog(source, { schemas: [...schemas] }));
  return source.dialect === 'sqlite' && adopted.misfits.length === 0
    ? { ...adopted, project: await withTimeForms(adopted.project, source) }
    : adopted;
}

async function searchPath(source: ReturnType<typeof catalogSource>): Promise<string[]> {
  if (source.dialect === 'sqlite') return [];
  const rows = await source.rows(`select unnest(current_schemas(false))::text as name`, []);
  return rows.map(({ name }) => String(name));
}

type Source = ReturnType<typeof catalogSource>;

/** The number of rows that are read to find out in which form a column stores times. */
const LOOKED_AT = 1000;

/** The form in which the server itself writes times. It is used for a table without rows. */
const OURS: Readonly<Record<'timestamp' | 'date', TimeForm>> = {
  timestamp: { unit: 'text', separator: 'T', digits: 3, zone: 'Z' },
  date: { unit: 'text', separator: '', digits: 0, zone: '' },
};

/** The project with the form in which each column of a SQLite file keeps times and days. */
async function withTimeForms(project: Project, source: Source): Promise<Project> {
  const entities: Entity[] = [];
  for (const entity of project.entities) entities.push(await withForms(entity, source));
  return { ...project, entities };
}

type TimeColumn = Column & { readonly type: 'timestamp' | 'date' };

const isTime = (column: Column): column is TimeColumn =>
  !column.list && !column.parts && (column.type === 'timestamp' || column.type === 'date');

async function withForms(entity: Entity, source: Source): Promise<Entity> {
  const times = entity.columns.filter(isTime);
  if (times.length === 0) return entity;
  const [row = {}] = await source.rows(`select ${times.map(firstOf(entity)).join(', ')}`, []);
  return {
    ...entity,
    columns: entity.columns.map((column) => {
      if (!isTime(column)) return column;
      const first = row[`t${times.indexOf(column)}`];
      return { ...column, timeForm: timeFormOf(first) ?? OURS[column.type] };
    }),
  };
}

/** SQL for the first value that is not null. */
const firstOf =
  ({ table }: Entity) =>
  ({ stored, name }: Column, index: number) => {
    const column = quotedName(stored ?? name);
    const some = `select ${column} as value from ${quotedName(table)} limit ${LOOKED_AT}`;
    return `(select value from (${some}) where value is not null limit 1) as t${index}`;
  };
