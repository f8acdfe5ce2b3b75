import type { Diagnostic, Project, SourceText } from '@twofold/schema';
import { createLocate } from '../migrations/locate.ts';
import { askDatabase } from '../run-project.ts';

/** `check --database`: a finding at the line of the schema for each misfit of the database. */
export async function databaseFindings(
  root: string,
  project: Project,
  schema: readonly SourceText[],
): Promise<Diagnostic[]> {
  const misfits = await askDatabase(root, 'misfits');
  const locate = createLocate(project, schema);
  return misfits.map(({ coordinate, object, expected, found }) => ({
    code: 'CATALOG_MISMATCH',
    severity: 'error',
    summary: `${coordinate}: ${object}: expected ${expected}, found ${found}`,
    why: 'the database has to have what the schema says; more of it is no misfit',
    fix: 'change the schema to what the database has, or the database',
    at: locate(placeOf(project, coordinate)),
  }));
}

/** The place by table and column, which is how a schema is searched: `tracks.name`. */
function placeOf(project: Project, coordinate: string): string {
  const [type, field] = coordinate.split('.');
  const entity = project.entities.find(({ name }) => name === type);
  const source = entity?.fields.find(({ name }) => name === field)?.source;
  const column = source && 'column' in source ? source.column : field;
  return entity ? [entity.table, column].filter((part) => part !== undefined).join('.') : '';
}
