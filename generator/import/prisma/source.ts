import {
  argument,
  attribute,
  fieldsOf,
  type PrismaEnum,
  type PrismaField,
  type PrismaModel,
  type PrismaSchema,
  storedName,
  textOf,
} from './prisma-schema.ts';

/** A Prisma schema, with its models and enums by name. */
export interface Source {
  readonly provider: string;
  readonly models: ReadonlyMap<string, PrismaModel>;
  readonly enums: ReadonlyMap<string, PrismaEnum>;
}

/** Models that Prisma leaves out of its client are left out here too. */
export const sourceOf = ({ provider, models, enums }: PrismaSchema): Source => ({
  provider: provider ?? 'postgresql',
  models: new Map(models.filter(isServed).map((model) => [model.name, model])),
  enums: new Map(enums.map((each) => [each.name, each])),
});

export const isServed = (of: PrismaModel | PrismaField): boolean => !attribute(of, 'ignore');

/** @example objectOf(model, source, 'email') // 'public.users.email' */
export function objectOf(model: PrismaModel, { provider }: Source, column?: string): string {
  const schema = textOf(argument(attribute(model, 'schema'), 'name', true)) ?? 'public';
  const table = provider === 'sqlite' ? storedName(model) : `${schema}.${storedName(model)}`;
  return column === undefined ? table : `${table}.${column}`;
}

/** The schema of a table, unless it is the one that a connection has anyway. */
export function schemaOf(model: PrismaModel): string | undefined {
  const schema = textOf(argument(attribute(model, 'schema'), 'name', true));
  return schema === 'public' ? undefined : schema;
}

/**
 * The scalar fields of the primary key; without one, those of the first unique key whose fields are
 * required.
 */
export function keyFields(model: PrismaModel): readonly string[] {
  const one = model.fields.find((field) => attribute(field, 'id'));
  if (one) return [one.name];
  const several = fieldsOf(argument(attribute(model, 'id'), 'fields', true));
  if (several.length > 0) return several;
  return uniqueKeys(model).find((names) => names.every((name) => isRequired(model, name))) ?? [];
}

/** Each unique key, as the fields that `@unique` and `@@unique` name. */
export function uniqueKeys(model: PrismaModel): readonly (readonly string[])[] {
  const single = model.fields.filter((field) => attribute(field, 'unique'));
  const several = model.attributes.filter(({ name }) => name === 'unique');
  return [
    ...single.map(({ name }) => [name]),
    ...several.map((each) => fieldsOf(argument(each, 'fields', true))),
  ];
}

const isRequired = ({ fields }: PrismaModel, name: string) =>
  fields.some((field) => field.name === name && !field.optional && !field.list);

/** The relation of the model whose foreign key contains a scalar field. */
export const relationOver = (model: PrismaModel, scalar: string): PrismaField | undefined =>
  model.fields.find((field) => ownColumns(field).includes(scalar));

/** The scalar fields of the foreign key, if the relation field has it on its side. */
export const ownColumns = (field: PrismaField): readonly string[] =>
  fieldsOf(argument(attribute(field, 'relation'), 'fields'));

/** The fields of the other model to which the foreign key of a relation leads. */
export const referencesOf = (field: PrismaField): readonly string[] =>
  fieldsOf(argument(attribute(field, 'relation'), 'references'));

export const relationName = (field: PrismaField): string | undefined =>
  textOf(argument(attribute(field, 'relation'), 'name', true));

/**
 * The fields of the imported schema for scalar fields of Prisma. The fields of a foreign key become
 * its relation.
 *
 * @example shownFields(post, ['authorId', 'slug']) // ['author', 'slug']
 */
export function shownFields(model: PrismaModel, names: readonly string[]): readonly string[] {
  return [
    ...new Set(names.map((name) => relationOver(model, name)?.name ?? shownName(model, name))),
  ];
}

/** `id` is the whole key: a column of that name that is only a part of it is `_id`. */
export const shownName = (model: PrismaModel, name: string): string =>
  name === 'id' && keyFields(model).length > 1 ? '_id' : name;
