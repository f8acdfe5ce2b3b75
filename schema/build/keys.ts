import { first } from '../present.ts';
import type { EntityFact, Facts, FieldFact } from './facts.ts';

/**
 * Scalars that a key can have in the schema: all three can represent a whole number, and `String`
 * and `ID` a UUID.
 */
const KEY_SCALARS: ReadonlySet<string> = new Set(['ID', 'String', 'Int']);

/** The scalar of an entity's key in the schema: `ID` or `Int`. */
export function keyScalar(entity: EntityFact): string {
  return entity.fields.get('id')?.named.name ?? 'ID';
}

/** Whether a value of this scalar can be a key of the project. */
export function isKeyScalar(scalar: string, { manifest }: Facts): boolean {
  return KEY_SCALARS.has(scalar) && (scalar !== 'Int' || manifest.values.database.ids !== 'uuid');
}

/**
 * Whether a field shows the key of a relation, as `categoryId: String!` beside `category:
 * Category`. It may have any scalar that keys have.
 */
export function showsKey(field: FieldFact, facts: Facts): boolean {
  return !field.type.list && field.args.length === 0 && isKeyScalar(field.named.name, facts);
}

/** `filmId`, `filmID` and `film_id` name the key of a `Film`. */
export function namesKey(name: string, { singular }: EntityFact): boolean {
  return ['Id', 'ID', '_id'].some((end) => name === `${singular}${end}`);
}

/** The field that is the whole key, when it is not `id`: `sku`. */
export const soleKey = ({ key, fields }: EntityFact): string | undefined =>
  key?.length === 1 && fields.get(first(key))?.type.kind === 'scalar' ? key[0] : undefined;
