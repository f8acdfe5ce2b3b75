import { snakeCase } from '../names.ts';
import type { EntityFact, Facts, FieldFact } from './facts.ts';
import type { ForeignKey } from './key-parts.ts';

/**
 * The name in the model of a column that `@relation` names as the database has it: that of the
 * field which shows the column, else the name in snake_case. Where `@table(key:)` names the key,
 * `id` is the whole key in the model, and not a column that a relation may have.
 *
 * @example modelName(track, 'AlbumId') // 'album_id'
 */
function modelName(entity: EntityFact | undefined, stored: string): string {
  const fields = [...(entity?.fields.values() ?? [])];
  const relation = fields.find(({ directives }) => directives.relation?.column === stored);
  if (stored === 'id' && entity?.key && relation) return `${relation.snakeName}_id`;
  const field = fields.find(
    ({ directives, snakeName }) => (directives.column?.name ?? snakeName) === stored,
  );
  if (field) return field.snakeName;
  return /^[a-z_][a-z0-9_]*$/.test(stored)
    ? stored
    : snakeCase(stored.replace(/\W+/g, '_').replace(/^(?=\d)/, '_'));
}

/** The columns of a foreign key that `@relation` or `@column` of its field names. */
export function keyNames(
  field: FieldFact,
  { entities }: Facts,
): Pick<ForeignKey, 'column' | 'columns' | 'references' | 'stored'> {
  const { relation, column } = field.directives;
  const entity = entities.get(field.owner);
  const written = relation?.columns ?? [relation?.column ?? column?.name].flatMap((n) => n ?? []);
  const names = written.map((name) => [modelName(entity, name), name] as const);
  const stored = new Map(names.filter(([name, as]) => name !== as));
  const [first] = names;
  const usual = `${field.snakeName}_id`;
  // A key of several columns has a name of its own: `account` over `account_id` and `user_id`.
  const whole = names.some(([name]) => name === usual)
    ? names.map(([name]) => name).join('_')
    : usual;
  return {
    column: first && names.length === 1 ? first[0] : whole,
    ...(names.length > 1 && { columns: names.map(([name]) => name) }),
    ...(relation?.references && { references: relation.references }),
    ...(stored.size > 0 && { stored }),
  };
}

/** The columns in the table of `of` that a list on the other side names. */
export function listedNames(
  { directives: { relation } }: FieldFact,
  of: string,
  { entities }: Facts,
): Pick<ForeignKey, 'column' | 'columns' | 'stored'> {
  const entity = entities.get(of);
  const written = relation?.columns ?? [relation?.column ?? ''];
  const names = written.map((name) => [modelName(entity, name), name] as const);
  const stored = new Map(names.filter(([name, as]) => name !== as));
  const [first] = names;
  return {
    column: names.length === 1 ? first![0] : names.map(([name]) => name).join('_'),
    ...(names.length > 1 && { columns: names.map(([name]) => name) }),
    ...(stored.size > 0 && { stored }),
  };
}

/** The name of the column behind a field, when `@column` gives another one than the field's. */
export function storedNames({ snakeName, directives }: FieldFact): Pick<ForeignKey, 'stored'> {
  const name = directives.column?.name;
  return name === undefined || name === snakeName ? {} : { stored: new Map([[snakeName, name]]) };
}
