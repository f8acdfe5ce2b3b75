import { snakeCase, lookUp } from '@twofold/schema';
import { createNames } from '../database/names.ts';
import {
  attribute,
  type PrismaAttribute,
  type PrismaField,
  type PrismaModel,
  type PrismaSchema,
  type PrismaValue,
  storedName,
} from './prisma-schema.ts';
import { ownColumns, relationOver } from './source.ts';

/**
 * The same schema, in which no two fields of a model stand for one column: `createdAt` and
 * `created_at` differ in Prisma only, so that the second one becomes `_created_at`.
 */
export function withFreeFields(schema: PrismaSchema): PrismaSchema {
  const names = new Map(schema.models.map((model) => [model.name, freeNames(model, schema)]));
  const models = schema.models.map((model) => {
    const own = lookUp(names, model.name);
    return {
      ...model,
      fields: model.fields.map((field) => renamed(field, own, names.get(field.type))),
      attributes: model.attributes.map((each) => ofFields(each, own)),
    };
  });
  return { ...schema, models };
}

type Names = ReadonlyMap<string, string>;

/** New names by the old ones. A foreign key becomes a relation, which keeps the column's name. */
function freeNames(model: PrismaModel, { models }: PrismaSchema): Names {
  const free = createNames([], snakeCase);
  const isKey = ({ name }: PrismaField) => relationOver(model, name) !== undefined;
  for (const field of model.fields.filter(isKey)) free(storedName(field));
  const columns = model.fields.filter(
    (field) => !isKey(field) && !models.some(({ name }) => name === field.type),
  );
  return new Map(columns.map(({ name }) => [name, free(name)]));
}

function renamed(field: PrismaField, own: Names, theirs: Names | undefined): PrismaField {
  const name = own.get(field.name) ?? field.name;
  const stored = { name: 'map', args: [{ name: null, value: wordOf(field.name) }] };
  const isMapped = name === field.name || attribute(field, 'map') !== undefined;
  const attributes = isMapped ? field.attributes : [...field.attributes, stored];
  const inRelation = ownColumns(field).length > 0;
  return {
    ...field,
    name,
    attributes: inRelation ? attributes.map((each) => ofFields(each, own, theirs)) : attributes,
  };
}

const wordOf = (text: string): PrismaValue => ({ kind: 'word', text });

/** An attribute with the new names in its lists of fields; `references` are those of another model. */
function ofFields(of: PrismaAttribute, own: Names, theirs: Names = own): PrismaAttribute {
  const args = of.args.map(({ name, value }) => ({
    name,
    value: value.kind === 'list' ? inList(value, name === 'references' ? theirs : own) : value,
  }));
  return { ...of, args };
}

function inList(list: PrismaValue & { readonly kind: 'list' }, names: Names): PrismaValue {
  const values = list.values.map((each) => {
    if (each.kind === 'function') return { ...each, name: names.get(each.name) ?? each.name };
    return each.kind === 'word' ? wordOf(names.get(each.text) ?? each.text) : each;
  });
  return { ...list, values };
}
