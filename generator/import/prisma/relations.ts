import { lookUp } from '@twofold/schema';
import { lowerFirst } from '../database/names.ts';
import { directive, type ImportedField } from '../imported.ts';
import {
  argument,
  attribute,
  type PrismaField,
  type PrismaModel,
  textOf,
  storedName,
} from './prisma-schema.ts';
import {
  keyFields,
  ownColumns,
  referencesOf,
  relationName,
  schemaOf,
  shownFields,
  type Source,
} from './source.ts';

/** The field for a relation of Prisma, and the table or columns that hold it. */
export interface ImportedRelation {
  readonly field: ImportedField;
  readonly kind: 'foreign key' | 'join table' | 'inverse';
  /** The columns of a foreign key, or the name of a join table. */
  readonly stored: readonly string[];
  readonly why?: string;
}

const ON_DELETE: Readonly<Record<string, string>> = {
  Cascade: 'CASCADE',
  Restrict: 'RESTRICT',
  NoAction: 'RESTRICT',
  SetNull: 'SET_NULL',
};

/**
 * A field whose type is a model.
 *
 * @example importRelation(field, post, source).field.type // 'User!'
 */
export function importRelation(
  field: PrismaField,
  model: PrismaModel,
  source: Source,
): ImportedRelation {
  const target = lookUp(source.models, field.type);
  if (ownColumns(field).length > 0) return foreignKey(field, model, target);
  const other = otherEnd(field, model, target);
  if (field.list && other?.list) return joinTable(field, other, { model, target });
  // Two rows that refer to each other are one relation only if the names say so.
  const isOpen =
    hasSiblings(field, model, target) ||
    (!field.list &&
      (other?.name !== lowerFirst(model.name) || field.name !== lowerFirst(target.name)));
  const inverse = other && isOpen ? directive('relation', { inverse: other.name }) : [];
  return {
    field: {
      ...described(field),
      type: field.list ? `[${field.type}!]!` : field.type,
      directives: [inverse].flat(),
      unique: false,
    },
    kind: 'inverse',
    stored: [],
  };
}

const described = ({ name, description }: PrismaField) => ({
  name,
  ...(description !== undefined && { description }),
});

function foreignKey(field: PrismaField, model: PrismaModel, target: PrismaModel): ImportedRelation {
  const columns = ownColumns(field).map((name) => columnOf(model, name));
  const references = referencesOf(field);
  const isKey = references.join() === keyFields(target).join();
  const onDelete = textOf(argument(attribute(field, 'relation'), 'onDelete'));
  const relation = directive('relation', {
    ...(columns.length === 1 ? { column: columns[0] } : { columns }),
    references: isKey ? undefined : shownFields(target, references),
    onDelete: raw(ON_DELETE[onDelete ?? '']),
  });
  return {
    field: {
      ...described(field),
      type: isOptional(field, model) ? field.type : `${field.type}!`,
      directives: [relation],
      unique: false,
    },
    kind: 'foreign key',
    stored: columns,
    ...(onDelete === 'SetDefault' && { why: 'onDelete: SetDefault is left to the database' }),
  };
}

/** The columns decide: Prisma allows `User?` over a required column. */
const isOptional = (field: PrismaField, { fields }: PrismaModel): boolean =>
  field.optional &&
  fields.some(({ name, optional }) => optional && ownColumns(field).includes(name));

const raw = (word: string | undefined) => (word === undefined ? undefined : { raw: word });

/** @example columnOf(post, 'authorId') // 'author_id' */
export function columnOf(model: PrismaModel, name: string): string {
  const field = model.fields.find((each) => each.name === name);
  return field ? storedName(field) : name;
}

/**
 * The table that Prisma makes of two lists. Its column A holds the key of the model whose name
 * comes first, B that of the other; between rows of one model, the names of the fields decide.
 */
function joinTable(
  field: PrismaField,
  other: PrismaField,
  { model, target }: { readonly model: PrismaModel; readonly target: PrismaModel },
): ImportedRelation {
  const own = model.name === target.name ? field.name : model.name;
  const theirs = model.name === target.name ? other.name : target.name;
  const isFirst = own < theirs;
  const [first, second] = isFirst ? [model, target] : [target, model];
  const table = `_${relationName(field) ?? `${first.name}To${second.name}`}`;
  const relation = directive('relation', {
    table,
    columns: isFirst ? ['A', 'B'] : ['B', 'A'],
    schema: schemaOf(first),
    inverse: hasSiblings(field, model, target) ? other.name : undefined,
  });
  return {
    field: {
      ...described(field),
      type: `[${field.type}!]!`,
      directives: [relation],
      unique: false,
    },
    kind: 'join table',
    stored: isFirst ? [table] : [],
  };
}

/** The field of the other model that is the other end of a relation. */
function otherEnd(
  field: PrismaField,
  model: PrismaModel,
  target: PrismaModel,
): PrismaField | undefined {
  return target.fields.find(
    (each) =>
      each !== field &&
      each.type === model.name &&
      relationName(each) === relationName(field) &&
      (ownColumns(each).length > 0 || each.list),
  );
}

/** Whether the same two models have another relation, so that both ends need a name. */
const hasSiblings = (field: PrismaField, model: PrismaModel, target: PrismaModel): boolean =>
  model.name === target.name ||
  model.fields.some((each) => each !== field && each.type === target.name) ||
  target.fields.filter(({ type }) => type === model.name).length > 1;
