import type { Catalog, CatalogTable } from '@twofold/database';
import {
  directive,
  type Imported,
  type ImportedEnum,
  type ImportedType,
  type ReportItem,
} from '../imported.ts';
import { addFields, schemaOf } from './fields.ts';
import { addInverses, addLists } from './inverses.ts';
import { createNames, enumValue } from './names.ts';
import { noteObjects } from './objects.ts';
import {
  type Importing,
  isDefaultSchema,
  isServed,
  namedTypes,
  objectOf,
  type TypeInProgress,
  type Wishes,
} from './types.ts';

/**
 * The schema that serves a database as it is.
 *
 * @param wanted whether a table is part of the import.
 * @param typedKeys whether the schema says of what type each key is.
 * @example importDatabase(catalog, () => true).types.map(({ name }) => name) // ['Actor', 'Film']
 */
export const importDatabase = (
  catalog: Catalog,
  wanted: (table: CatalogTable) => boolean,
  typedKeys = false,
): Imported => importedOf(importTables(catalog, { wanted, typedKeys }));

/** Makes the types of the tables, with their fields and relations. They are not written yet. */
export function importTables(catalog: Catalog, wishes: Wishes): Importing {
  const tables = catalog.tables.filter((table) => isServed(table) && wishes.wanted(table));
  const left = catalog.tables.filter((table) => !tables.includes(table));
  const named = namedTypes(catalog, tables, wishes);
  const importing: Importing = { ...named, catalog, wishes, items: [], checked: new Map() };
  for (const type of named.types.values()) addFields(type, importing);
  addInverses(importing);
  addLists(importing);
  noteObjects(importing, left);
  return importing;
}

/** @example importedOf(importTables(catalog, { wanted: () => true })).types[0]?.name // 'Actor' */
export const importedOf = (importing: Importing): Imported => ({
  types: [...importing.types.values()].map(typeOf),
  enums: enumsOf(importing),
  items: importing.items.toSorted(byObject),
});

const byObject = (a: ReportItem, b: ReportItem) =>
  a.object < b.object ? -1 : a.object > b.object ? 1 : 0;

function typeOf(type: TypeInProgress): ImportedType {
  const { name, table, fields, view, key } = type;
  const schema = schemaOf(table.schema);
  return {
    name,
    table: {
      name: table.name,
      view,
      ...(schema !== undefined && { schema }),
      ...(key && { key }),
    },
    ...(table.comment !== null && { description: table.comment }),
    directives: view ? [] : indexesOf(type),
    fields,
    ...idsOf(type),
  };
}

function idsOf({ table, columns }: TypeInProgress): Pick<ImportedType, 'ids'> {
  const { type = '' } = table.columns.find(({ name }) => columns.get(name) === 'id') ?? {};
  if (/^uuid$/i.test(type)) return { ids: 'uuid' };
  return /int|serial|numeric/i.test(type) ? { ids: 'integer' } : {};
}

/** Indexes that are more than `@unique` on a field, over columns that are fields of one value. */
function indexesOf({ table, columns, fields: all }: TypeInProgress): string[] {
  const plain = table.indexes.filter(
    ({ where, onExpressions, method }) => where === null && !onExpressions && method === 'btree',
  );
  const uniques = table.uniques.map((each) => ({ ...each, unique: true }));
  return [...uniques, ...plain].flatMap(({ columns: of, unique }) => {
    const fields = of.map((name) => columns.get(name ?? ''));
    const known = fields.filter(
      (field) =>
        field !== 'id' && all.some(({ name, type }) => name === field && !/^(\[|JSON)/.test(type)),
    ) as string[];
    if (known.length < fields.length || (unique && fields.length === 1)) return [];
    return [directive('index', { fields: known, unique: unique || undefined })];
  });
}

export function enumsOf({ catalog, enumNames, checked }: Importing): ImportedEnum[] {
  const native = catalog.enums.flatMap((each): ImportedEnum[] => {
    const name = enumNames.get(JSON.stringify([each.schema, each.name]));
    const type = isDefaultSchema(each.schema) ? each.name : objectOf(each);
    if (name === undefined) return [];
    return [
      {
        name,
        directives: [directive('column', { type })],
        values: valuesOf(each.values),
        ...(each.comment !== null && { description: each.comment }),
      },
    ];
  });
  const ofChecks = [...checked].map(([name, values]) => ({
    name,
    directives: [],
    values: valuesOf(values),
  }));
  return [...native, ...ofChecks];
}

function valuesOf(values: readonly string[]): ImportedEnum['values'] {
  const free = createNames();
  return values.map((value) => {
    const name = free(enumValue(value));
    if (name === value) return { name, directives: [] };
    return { name, stored: value, directives: [directive('column', { name: value })] };
  });
}
