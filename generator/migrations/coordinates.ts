import type { Project } from '@twofold/schema';

/**
 * Options accept the coordinate of the schema or of the database: `Post.body` or `posts.body`.
 * Returns the database's.
 */
export function columnsNamed(
  project: Project | null,
  names: readonly string[],
): ReadonlySet<string> {
  const tables = new Map(project?.entities.map((entity) => [entity.name, entity.table]));
  return new Set(
    names.flatMap((name) => {
      const [type = '', field] = name.split('.');
      const table = tables.get(type) ?? type;
      return field === undefined
        ? [table]
        : [`${table}.${field}`, `${table}.${snakeCase(field)}`, `${table}.${snakeCase(field)}_id`];
    }),
  );
}

function snakeCase(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();
}
