import {
  getNamedType,
  type GraphQLField,
  type GraphQLSchema,
  isLeafType,
  isListType,
  isNullableType,
  isObjectType,
  isRequiredArgument,
} from 'graphql';
import { prettify } from './prettify.ts';

type Field = GraphQLField<unknown, unknown>;

/**
 * A query of the schema that runs as it is, to begin with: its first list, or else its first field
 * that needs no argument. Empty for a schema without one.
 */
export function firstQuery(schema: GraphQLSchema): string {
  const fields = free(Object.values(schema.getQueryType()?.getFields() ?? {}));
  const lists = fields.toSorted((a, b) => rankOf(a) - rankOf(b));
  const text = lists.map((field) => selectionOf(field, 2)).find((each) => each !== null);
  return text ? prettify(`{ ${text} }`) : '';
}

/** Lists come first. The users come last: their rows are for few callers. */
const rankOf = (field: Field): number =>
  getNamedType(field.type).name === 'User' ? 2 : Number(!isList(field));

/** A field with the first values of its type. A page has them one level deeper. */
function selectionOf(field: Field, depth: number): string | null {
  const type = getNamedType(field.type);
  if (isLeafType(type)) return field.name;
  if (!isObjectType(type)) return null;
  const fields = free(Object.values(type.getFields()));
  const values = fields.filter((each) => isLeafType(getNamedType(each.type))).slice(0, 5);
  const inner = values.map(({ name }) => name);
  const rows = depth > 0 && fields.find((each) => isList(each) && !values.includes(each));
  if (inner.length === 0 && rows) inner.push(selectionOf(rows, depth - 1) ?? '__typename');
  if (inner.length === 0) return null;
  const limit = field.args.some(({ name }) => name === 'limit') ? '(limit: 10)' : '';
  return `${field.name}${limit} { ${inner.join(' ')} }`;
}

const isList = ({ type }: Field) => isListType(isNullableType(type) ? type : type.ofType);

/** Those that can be asked for without an argument. */
const free = (fields: readonly Field[]): Field[] =>
  fields.filter(({ args }) => !args.some(isRequiredArgument));
