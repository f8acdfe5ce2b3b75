import { camelCase, pluralize, first } from '@twofold/schema';
import {
  directive,
  type Imported,
  type ImportedEnum,
  type ImportedField,
  type ImportedType,
  type ImportedValue,
  type TableOf,
} from './imported.ts';

/**
 * The text of `schema.graphql`: the types in their order, the enums, and queries for each type.
 * With `crud` the lists are left to `api.crud`, whose lists have filters and orders.
 *
 * @example printSchema(importPrisma(readPrisma(text)))
 */
export function printSchema({ types, enums }: Imported, crud = false): string {
  const blocks = [
    ...scalarsOf(types).map((name) => `scalar ${name}`),
    ...types.map(printType),
    ...enums.map(printEnum),
    printQuery(types, crud),
  ];
  return `${blocks.join('\n\n')}\n`;
}

/** The scalars that GraphQL does not have itself, in alphabetical order. */
function scalarsOf(types: readonly ImportedType[]): string[] {
  const named = types.flatMap(({ fields }) =>
    fields.filter(({ closed }) => closed === undefined).map(({ type }) => nameIn(type)),
  );
  return [...new Set(named)].filter((name) => SCALARS.has(name)).sort();
}

const nameIn = (type: string) => type.replace(/[[\]!]/g, '');

const SCALARS: ReadonlySet<string> = new Set([
  'BigInt',
  'Byte',
  'Date',
  'DateTime',
  'Decimal',
  'JSON',
  'Time',
  'UUID',
]);

/** When the directives of a type are longer than this, each gets a line of its own. */
const WIDTH = 160;

function printType({ name, table, description, directives, fields }: ImportedType): string {
  const parts = [`type ${name}`, printTable(table), ...directives];
  const line = parts.join(' ');
  const head = line.length > WIDTH ? parts.join('\n  ') : line;
  return `${printDescription(description, '')}${head} {\n${fields.map(printField).join('')}}`;
}

const printTable = ({ name, schema, view, key }: TableOf) =>
  directive('table', { name, schema, key, view: view || undefined });

function printField({ name, type, description, directives, closed }: ImportedField): string {
  const line = [`${name}: ${type}`, ...directives].join(' ');
  if (closed !== undefined) return `  # ${line}\n  # ${closed}\n`;
  return `${printDescription(description, '  ')}  ${line}\n`;
}

function printEnum({ name, description, directives, values }: ImportedEnum): string {
  const head = [`enum ${name}`, ...directives].join(' ');
  return `${printDescription(description, '')}${head} {\n${values.map(printValue).join('')}}`;
}

const printValue = ({ name, description, directives }: ImportedValue) =>
  `${printDescription(description, '  ')}  ${[name, ...directives].join(' ')}\n`;

function printDescription(text: string | undefined, indent: string): string {
  if (text === undefined || text.trim() === '') return '';
  const lines = text.replaceAll('"""', '\\"""').split('\n');
  const body =
    lines.length === 1 ? first(lines) : `\n${indent}${lines.join(`\n${indent}`)}\n${indent}`;
  return `${indent}"""${body.endsWith('"') ? `${body} ` : body}"""\n`;
}

/** The fields of `Query`: each type by its id, as a list, and by each unique field. */
function printQuery(types: readonly ImportedType[], crud: boolean): string {
  const names = new Set<string>();
  const lines = types.flatMap((type) =>
    queriesOf(type)
      .filter(({ name }) => !(crud && isListOfCrud(type, name)))
      .filter(({ name }) => !names.has(name) && names.add(name)),
  );
  return `type Query {\n${lines.map(({ name, rest }) => `  ${name}${rest}\n`).join('')}}`;
}

/** A name that needs a directive to be a list is not the one that `api.crud` gives. */
const isListOfCrud = ({ name, table }: ImportedType, query: string): boolean =>
  !table.view && query === camelCase(pluralize(name)) && !/By[A-Z]/.test(query);

function queriesOf({ name, table, fields }: ImportedType): { name: string; rest: string }[] {
  const one = camelCase(name);
  const many = listName(one, camelCase(pluralize(name)));
  const id = keyField(table, fields);
  const unique = fields.filter((field) => field.unique && !field.closed && field.name !== id?.name);
  return [
    ...(id
      ? [{ name: one, rest: `(${id.name}: ${required(id.type)}): ${name}${resolved(one, 'GET')}` }]
      : []),
    { name: many, rest: `(limit: Int, offset: Int): [${name}!]!${resolved(many, 'LIST')}` },
    ...unique.map((field) => ({
      name: `${one}By${first(field.name).toUpperCase()}${field.name.slice(1)}`,
      rest: `(${field.name}: ${required(field.type)}): ${name}`,
    })),
  ];
}

/** `salesByStore` would be read as sales by the field `store`. */
const resolved = (name: string, as: string) =>
  /By[A-Z]/.test(name) ? ` ${directive('resolve', { as: { raw: as } })}` : '';

/** A word that is its own plural needs another name for the list: `staffList`. */
const listName = (one: string, many: string) => (one === many ? `${one}List` : many);

/** The field that finds one row; undefined for a view without a key. */
function keyField(
  { key, view }: TableOf,
  fields: readonly ImportedField[],
): ImportedField | undefined {
  if (view && !key) return undefined;
  const name = fields.some((field) => field.name === 'id')
    ? 'id'
    : key?.length === 1
      ? key[0]
      : 'id';
  return fields.find((field) => field.name === name);
}

const required = (type: string) => (type.endsWith('!') ? type : `${type}!`);
