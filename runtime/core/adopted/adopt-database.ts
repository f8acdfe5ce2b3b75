import { withTimeForms } from './time-forms.ts';
import type { Project } from '@twofold/schema';
import { catalogSource, readCatalog } from '../store/catalog/read-catalog.ts';
import type { Store } from '../store/store.ts';
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
