import { storedAs } from './columns.ts';
import type { EntityFact, FieldFact } from './facts.ts';
import { isKeyScalar } from './keys.ts';
import type { NamedColumn, Shapes } from './shapes.ts';

/**
 * The column that an argument, a filter or an input field called `name` means: the column of that
 * field, or the key of `author` for `authorId` and for `author` itself.
 *
 * @example
 * namedColumn(shapes, post, 'authorId') // { column: 'author_id', scalar: 'ID', … }
 */
export function namedColumn(
  shapes: Shapes,
  entity: EntityFact,
  name: string,
): NamedColumn | undefined {
  const field = entity.fields.get(name);
  return (
    (field && ownColumn(shapes, field)) ??
    keyColumn(shapes, entity.fields.get(name.replace(/(?:Id|_id|ID)$/, '')))
  );
}

function ownColumn(shapes: Shapes, field: FieldFact): NamedColumn | undefined {
  const type = storedAs(field, shapes.facts);
  if (!type) return keyColumn(shapes, field);
  const key = isKeyColumn(shapes, field);
  return { column: field.snakeName, scalar: field.named.name, field, json: type === 'json', key };
}

function keyColumn(shapes: Shapes, field: FieldFact | undefined): NamedColumn | undefined {
  const link = field && shapes.links.byField.get(field);
  if (!field || link?.kind !== 'own' || link.key.typeColumn) return undefined;
  return { column: link.key.column, scalar: 'ID', field, json: false, key: true };
}

function isKeyColumn(shapes: Shapes, { owner, name, snakeName }: FieldFact): boolean {
  const keys = shapes.links.keys.get(owner) ?? [];
  return (
    name === 'id' || keys.some(({ column, typeColumn }) => column === snakeName && !typeColumn)
  );
}

/**
 * Whether an argument or an input field of this scalar can be compared with the column, or written
 * to it.
 */
export function takes(shapes: Shapes, { scalar, key }: NamedColumn, given: string): boolean {
  return given === scalar || (key && isKeyScalar(given, shapes.facts));
}

/** The names that `namedColumn` knows, for "did you mean". */
export function columnNames(shapes: Shapes, entity: EntityFact): string[] {
  return [...entity.fields.values()].flatMap((field) => {
    if (storedAs(field, shapes.facts)) return [field.name];
    return keyColumn(shapes, field) ? [`${field.name}Id`] : [];
  });
}
