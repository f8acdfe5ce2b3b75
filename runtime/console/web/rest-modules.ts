import { type Callers, isAmong } from './parts/can.ts';

/** The parts of the OpenAPI document that describe the operations on each type. */
export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: { readonly schemas?: Schemas };
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
}

interface Operation {
  readonly responses?: Readonly<Record<string, Content>>;
  readonly requestBody?: Content;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly schema?: Schema;
  }[];
  readonly 'x-callers'?: Callers;
  readonly 'x-references'?: readonly Reference[];
}

interface Schema {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly contentEncoding?: string;
  readonly enum?: readonly unknown[];
  readonly maximum?: number;
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
}

type Schemas = Readonly<Record<string, Schema>>;

/** How the value of a field is typed in. Values of all other types are typed as JSON. */
export type FieldKind =
  | 'text'
  | 'integer'
  | 'number'
  | 'boolean'
  | 'enum'
  | 'timestamp'
  | 'date'
  | 'time'
  | 'bytes'
  | 'json';

/** The type of a value. */
export interface FieldType {
  readonly kind: FieldKind;
  readonly nullable: boolean;
  /** The values of an enum. */
  readonly values: readonly string[];
}

/** The relation whose key a field holds. */
export interface KeyOf {
  readonly field: string;
  readonly type: string;
}

/** A field of an input. */
export interface InputField extends FieldType {
  readonly name: string;
  readonly required: boolean;
  readonly keyOf: KeyOf | null;
}

/** A member of a row that is no related row. */
export interface Column extends FieldType {
  readonly name: string;
  readonly keyOf: KeyOf | null;
  readonly sortable: boolean;
  /** The operators by which the field can be filtered: `eq`, `contains` …. */
  readonly words: readonly string[];
}

/** A member of a row that is a related row, or a list of them. */
export interface Relation extends KeyOf {
  readonly many: boolean;
}

/** A field of another type that refers to rows of this type, and what a delete does to its rows. */
export interface Reference {
  readonly type: string;
  readonly field: string;
  readonly onDelete: 'cascade' | 'restrict' | 'set null';
}

/** A type that the API lists, and the operations that the API has for it. */
export interface Module {
  /** The path of its rows: `/api/posts`. */
  readonly path: string;
  readonly plural: string;
  readonly type: string;
  /** Its members that are not relations, in the order of the schema. */
  readonly columns: readonly Column[];
  readonly relations: readonly Relation[];
  /** The fields of a new row; null when the API has no create. */
  readonly create: readonly InputField[] | null;
  /** The fields that can be changed; empty when there are none. */
  readonly update: readonly InputField[];
  readonly remove: boolean;
  /** Whether one row can be read by its id. */
  readonly readable: boolean;
  /** Whether rows can be searched by words. */
  readonly searched: boolean;
  /** The largest page. */
  readonly limit: number;
  readonly references: readonly Reference[];
}

const OWN = /^\/api\/([a-z0-9-]+)$/;
const EVERY = /^\/api\/data\/([a-z0-9-]+)$/;

/**
 * The modules of a document: paths that answer with a page of rows, by the names of their types,
 * without the operations that rules leave to other callers.
 *
 * @param every those of `/api/data`, in place of those of REST
 */
export function modulesOf({ paths, components }: OpenApi, every = false): Module[] {
  const schemas = components?.schemas ?? {};
  const modules = Object.entries(paths).flatMap(([path, operations]): Module[] => {
    const plural = (every ? EVERY : OWN).exec(path)?.[1];
    const list = operations['get'];
    const page = list?.responses?.['200']?.content?.['application/json']?.schema;
    const row = nameOf(page?.properties?.['data']?.items);
    if (!list || plural === undefined || row === undefined || !page?.properties?.['pagination'])
      return [];
    const own = allowed(operations);
    const one = allowed(paths[`${path}/{id}`] ?? {});
    const { relations, columns } = membersOf(schemas[row] ?? {}, schemas, list);
    const inputs = { schemas, relations };
    return [
      {
        path,
        plural,
        type: withoutPrefix(row),
        columns,
        relations,
        create: own['post'] ? inputFields(own['post'], inputs) : null,
        update: one['patch'] ? changesOf(one['patch'], columns, inputs) : [],
        remove: one['delete'] !== undefined,
        readable: one['get'] !== undefined,
        searched: parameterOf(list, 'search') !== undefined,
        limit: parameterOf(list, 'limit')?.maximum ?? 100,
        references: one['delete']?.['x-references'] ?? [],
      },
    ];
  });
  return modules.sort((a, b) => a.type.localeCompare(b.type, 'en', { numeric: true }));
}

/** The operations from which the rules do not leave the caller out. */
const allowed = (operations: Readonly<Record<string, Operation>>) =>
  Object.fromEntries(Object.entries(operations).filter(([, each]) => isAmong(each['x-callers'])));

const nameOf = (schema: Schema | undefined) => schema?.$ref?.split('/').at(-1);

/**
 * A schema of the administrator's API that differs from that of REST has a prefix. It is removed
 * here.
 */
const withoutPrefix = (name: string) => name.replace(/^Data\./, '');

const parameterOf = ({ parameters = [] }: Operation, name: string): Schema | undefined =>
  parameters.find((each) => each.in === 'query' && each.name === name)?.schema;

function membersOf(row: Schema, schemas: Schemas, list: Operation) {
  const relations: Relation[] = [];
  const values: [string, Schema][] = [];
  for (const [name, property] of Object.entries(row.properties ?? {})) {
    const type = relatedType(property, schemas);
    if (type === undefined) values.push([name, property]);
    else relations.push({ field: name, type, many: property.type === 'array' });
  }
  const names = new Set(values.map(([name]) => name));
  const sorts = parameterOf(list, 'sort')?.enum ?? [];
  const columns = values.map(([name, property]): Column => ({
    name,
    ...kindOf(property, schemas),
    keyOf: keyOf(name, relations),
    sortable: sorts.includes(name),
    words: wordsOf(name, names, list),
  }));
  return { relations, columns };
}

/** Related rows are in an answer only with `include=`. */
function relatedType(property: Schema, schemas: Schemas): string | undefined {
  const parts = [property, property.items, ...(property.anyOf ?? [])];
  const found = parts.find(
    (part) => part?.$ref !== undefined && resolved(part, schemas).properties?.['id'] !== undefined,
  );
  return found && withoutPrefix(nameOf(found) ?? '');
}

function keyOf(name: string, relations: readonly Relation[]): KeyOf | null {
  const field = /^(.+?)(Ids?)$/.exec(name);
  if (!field) return null;
  const [, one = '', end] = field;
  const found = relations.find((each) =>
    end === 'Ids' ? each.many && isPluralOf(each.field, one) : !each.many && each.field === one,
  );
  return found ? { field: found.field, type: found.type } : null;
}

const isPluralOf = (plural: string, singular: string) =>
  [singular, `${singular}s`, `${singular}es`, singular.replace(/y$/, 'ies')].includes(plural);

const WORDS = [
  'eq',
  'ne',
  'contains',
  'startsWith',
  'endsWith',
  'gt',
  'gte',
  'lt',
  'lte',
  'in',
  'notIn',
  'isNull',
];

/**
 * The filters of a field. Another field may have a name that looks like a filter, such as
 * `price_in`: then it is that field.
 */
function wordsOf(name: string, names: ReadonlySet<string>, list: Operation): string[] {
  const has = (word: string) => {
    const parameter = `${name}_${word}`;
    if (word === 'eq' && parameterOf(list, name)) return true;
    return !names.has(parameter) && parameterOf(list, parameter) !== undefined;
  };
  return WORDS.filter(has);
}

interface Inputs {
  readonly schemas: Schemas;
  readonly relations: readonly Relation[];
}

function inputFields({ requestBody }: Operation, { schemas, relations }: Inputs): InputField[] {
  const body = resolved(requestBody?.content?.['application/json']?.schema ?? {}, schemas);
  return Object.entries(body.properties ?? {}).map(([name, property]) => ({
    name,
    required: body.required?.includes(name) ?? false,
    ...kindOf(property, schemas),
    keyOf: keyOf(name, relations),
  }));
}

/** An input may leave out every field. Only one that a row may lack can be set to null. */
const changesOf = (patch: Operation, columns: readonly Column[], inputs: Inputs): InputField[] =>
  inputFields(patch, inputs).map((field) => {
    const column = columns.find(({ name }) => name === field.name);
    return { ...field, nullable: column?.nullable ?? false };
  });

const KINDS: Readonly<Record<string, FieldKind>> = {
  string: 'text',
  integer: 'integer',
  number: 'number',
  boolean: 'boolean',
};

const FORMATS: Readonly<Record<string, FieldKind>> = {
  'date-time': 'timestamp',
  date: 'date',
  time: 'time',
};

function kindOf(property: Schema, schemas: Schemas): FieldType {
  const parts = (property.anyOf ?? [property]).map((part) => resolved(part, schemas));
  const types = parts.flatMap(({ type }) => type ?? []);
  const values = parts.flatMap((part) => part.enum ?? []).filter((value) => value !== null);
  const nullable = types.includes('null') || parts.some((part) => part.enum?.includes(null));
  const named = types.filter((type) => type !== 'null');
  const [format] = parts.flatMap((part) => FORMATS[part.format ?? ''] ?? []);
  const kind = parts.some(({ contentEncoding }) => contentEncoding === 'base64')
    ? 'bytes'
    : (format ?? plainKind(named));
  // JSON of any kind may be null, and has no type in the document.
  return {
    kind: values.length > 0 ? 'enum' : kind,
    nullable: nullable || types.length === 0,
    values: values.map(String),
  };
}

/**
 * The kind of a scalar. Keys are taken as text and as a number, and so are whole numbers that
 * JavaScript would round: both stay text.
 */
const plainKind = (named: readonly string[]): FieldKind =>
  named.includes('integer') && named[0] === 'integer'
    ? 'integer'
    : named.includes('string')
      ? 'text'
      : (KINDS[named[0] ?? ''] ?? 'json');

const resolved = (schema: Schema, schemas: Schemas): Schema =>
  schema.$ref === undefined ? schema : (schemas[nameOf(schema) ?? ''] ?? {});
