import { first, lookUp } from '@twofold/schema';
import { directive, type Imported, type ImportedEnum, type ImportedField } from '../imported.ts';
import type { ImportedType, ReportItem } from '../imported.ts';
import { createNames, TAKEN } from '../database/names.ts';
import { importColumn, isClosed } from './columns.ts';
import { withFreeFields } from './free-fields.ts';
import {
  argument,
  fieldsOf,
  type PrismaAttribute,
  type PrismaEnum,
  type PrismaField,
  type PrismaModel,
  type PrismaSchema,
  storedName,
} from './prisma-schema.ts';
import { columnShape } from './native-types.ts';
import { withoutRefused } from './refused-relations.ts';
import { importRelation } from './relations.ts';
import {
  isServed,
  keyFields,
  objectOf,
  relationOver,
  schemaOf,
  shownFields,
  type Source,
  sourceOf,
} from './source.ts';

/**
 * The schema that serves the tables of a Prisma schema as they are.
 *
 * @example importPrisma(await readPrisma([{ file: 'schema.prisma', text }])).types[0]?.name // 'User'
 */
export function importPrisma(given: PrismaSchema): Imported {
  const schema = withFreeFields(given);
  const { source, items: refused } = withoutRefused(sourceOf(schema));
  const parts = [...source.models.values()].map((model) => importModel(model, source));
  return withFreeNames({
    types: parts.map(({ type }) => type),
    enums: schema.enums.map((each) => importEnum(each, source)),
    items: [
      ...schema.models.filter((model) => !isServed(model)).map((model) => ignored(model, source)),
      ...refused,
      ...parts.flatMap(({ items }) => items),
      ...schema.enums.map(enumItem),
      ...schema.composites.map(compositeItem),
    ],
  });
}

/** Types and enums without the names that GraphQL has for something else: `PublicSubscription`. */
function withFreeNames({ types, enums, items }: Imported): Imported {
  const free = createNames(TAKEN);
  const names = new Map([...types, ...enums].map(({ name }) => [name, free(name, 'Public')]));
  const named = <T extends { readonly name: string }>(of: T): T => ({
    ...of,
    name: lookUp(names, of.name),
  });
  const inText = (text: string) => text.replace(/\w+/, (name) => names.get(name) ?? name);
  const typed = (field: ImportedField) => ({ ...field, type: inText(field.type) });
  return {
    types: types.map((type) => named({ ...type, fields: type.fields.map(typed) })),
    enums: enums.map(named),
    items: items.map((item) => ({
      ...item,
      ...(item.as !== undefined && { as: inText(item.as) }),
    })),
  };
}

const ignored = (model: PrismaModel, source: Source): ReportItem => ({
  object: objectOf(model, source),
  kind: model.view ? 'view' : 'table',
  status: 'closed',
  why: '@@ignore leaves it out of the client of Prisma, and of this schema',
});

function importModel(
  model: PrismaModel,
  source: Source,
): { readonly type: ImportedType; readonly items: readonly ReportItem[] } {
  const parts = model.fields.flatMap((field) => importField(field, model, source));
  const fields = parts.flatMap(({ field }) => (field ? [field] : []));
  const key = shownFields(model, keyFields(model));
  const indexes = importIndexes(model, source);
  return {
    type: {
      name: model.name,
      table: {
        name: storedName(model),
        view: model.view || key.length === 0,
        ...(schemaOf(model) !== undefined && { schema: schemaOf(model)! }),
        ...(isPlainId(model, key) ? {} : { key }),
      },
      ...(model.description !== undefined && { description: model.description }),
      directives: indexes.flatMap(({ directives }) => directives),
      fields: needsId(key, fields) ? [ID, ...fields] : fields,
      ...idsOf(model, source),
    },
    items: [
      tableItem(model, source, key),
      ...parts.flatMap(({ items }) => items),
      ...indexes.map(({ item }) => item),
    ],
  };
}

/** Numbers and UUIDs are keys that accounts can have; other texts are not. */
function idsOf(model: PrismaModel, { provider }: Source): Pick<ImportedType, 'ids'> {
  const id = keyFields(model).join() === 'id' && model.fields.find(({ name }) => name === 'id');
  const scalar = id ? columnShape(id, provider)?.scalar : undefined;
  if (scalar === 'UUID') return { ids: 'uuid' };
  return scalar === 'Int' || scalar === 'BigInt' ? { ids: 'integer' } : {};
}

const ID: ImportedField = { name: 'id', type: 'ID!', directives: [], unique: true };

/**
 * Whether a model needs the field `id`. A composite key gives clients one text, and so does a key
 * that is a relation.
 */
const needsId = (key: readonly string[], fields: readonly ImportedField[]): boolean =>
  !fields.some(({ name }) => name === 'id') &&
  (key.length > 1 ||
    fields.some(
      ({ name, directives }) => name === key[0] && directives[0]?.startsWith('@relation'),
    ));

/** Whether `@table(key:)` is unnecessary, because the key is the field `id`, or there is none. */
const isPlainId = ({ view }: PrismaModel, key: readonly string[]): boolean =>
  key.length === 0 || (!view && key.join() === 'id');

function tableItem(model: PrismaModel, source: Source, key: readonly string[]): ReportItem {
  const item = {
    object: objectOf(model, source),
    kind: model.view ? 'view' : 'table',
    as: model.name,
  };
  if (key.length > 0 || model.view) return { ...item, status: 'kept' };
  return { ...item, status: 'approximated', why: 'it has no key, so its rows are only read' };
}

interface ImportedPart {
  readonly field: ImportedField | null;
  readonly items: readonly ReportItem[];
}

function importField(field: PrismaField, model: PrismaModel, source: Source): ImportedPart[] {
  const object = objectOf(model, source, storedName(field));
  if (!isServed(field)) {
    const why = '@ignore leaves it out of the client of Prisma, and of this schema';
    return [{ field: null, items: [{ object, kind: 'column', status: 'closed', why }] }];
  }
  if (source.models.has(field.type)) return [relationPart(field, model, source)];
  const relation = relationOver(model, field.name);
  if (!relation) {
    const { field: made, item } = importColumn(field, model, source);
    return [{ field: made, items: [item] }];
  }
  const as = `${model.name}.${relation.name}`;
  return [{ field: null, items: [{ object, kind: 'column', status: 'kept', as }] }];
}

function relationPart(field: PrismaField, model: PrismaModel, source: Source): ImportedPart {
  const { field: made, kind, stored, why } = importRelation(field, model, source);
  if (kind === 'inverse' || stored.length === 0) return { field: made, items: [] };
  const object =
    kind === 'join table' ? first(stored) : `${objectOf(model, source)}(${stored.join(', ')})`;
  const status = why === undefined ? 'kept' : 'approximated';
  const as = `${model.name}.${made.name}`;
  return {
    field: made,
    items: [{ object, kind, status, as, ...(why !== undefined && { why }) }],
  };
}

interface ImportedIndex {
  readonly directives: readonly string[];
  readonly item: ReportItem;
}

/** `@@unique` and `@@index`; a unique key of one field stands at the field. */
function importIndexes(model: PrismaModel, source: Source): ImportedIndex[] {
  return model.attributes
    .filter(({ name }) => ['unique', 'index', 'fulltext'].includes(name))
    .map((each) => importIndex(each, model, source));
}

function importIndex(each: PrismaAttribute, model: PrismaModel, source: Source): ImportedIndex {
  const columns = fieldsOf(argument(each, 'fields', true));
  const item = {
    object: `${objectOf(model, source)}(${columns.join(', ')})`,
    kind: each.name === 'unique' ? 'unique' : 'index',
  };
  const why = reasonAgainst(each, columns, model);
  if (why !== null) return { directives: [], item: { ...item, status: 'notExpressible', why } };
  const unique = each.name === 'unique';
  const fields = shownFields(model, columns);
  const isField = unique && columns.length === 1;
  return {
    directives: isField ? [] : [directive('index', { fields, unique: unique || undefined })],
    item: { ...item, status: 'kept', as: model.name },
  };
}

/** Why an index has no directive. The database keeps the index in any case. */
function reasonAgainst(
  each: PrismaAttribute,
  columns: readonly string[],
  model: PrismaModel,
): string | null {
  if (each.name === 'fulltext') return 'a full-text index belongs to the database alone';
  if (argument(each, 'type')) return 'only the ordinary kind of index has a directive';
  const missing = columns.find((name) => !model.fields.some((field) => field.name === name));
  if (missing !== undefined) return `the model has no field ${missing}`;
  const closed = model.fields.find(
    (field) => columns.includes(field.name) && isClosed(field, model),
  );
  if (closed) return `${closed.name} is closed, as it is named like a credential`;
  const json = model.fields.find(
    ({ name, list, type }) => columns.includes(name) && (list || type === 'Json'),
  );
  return json ? `${json.name} is a list or JSON, whose index belongs to the database alone` : null;
}

function importEnum(
  { name, values, description, ...each }: PrismaEnum,
  source: Source,
): ImportedEnum {
  const stored = storedName({ name, ...each });
  return {
    name,
    ...(description !== undefined && { description }),
    directives: source.provider === 'sqlite' ? [] : [directive('column', { type: stored })],
    values: values.map((value) => {
      const as = storedName(value);
      return {
        name: value.name,
        ...(value.description !== undefined && { description: value.description }),
        directives: as === value.name ? [] : [directive('column', { name: as })],
      };
    }),
  };
}

const enumItem = (each: PrismaEnum): ReportItem => ({
  object: storedName(each),
  kind: 'enum',
  status: 'kept',
  as: each.name,
});

const compositeItem = (name: string): ReportItem => ({
  object: name,
  kind: 'type',
  status: 'notExpressible',
  why: 'composite types are of databases of documents',
});
