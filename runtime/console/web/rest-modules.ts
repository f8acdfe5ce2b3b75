/** The parts of the OpenAPI document that say what the REST API does with each type. */
export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
}

interface Operation {
  readonly responses?: Readonly<Record<string, Content>>;
  readonly requestBody?: Content;
}

interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
}

type Schemas = Readonly<Record<string, Schema>>;

/** How the value of a field is written. Everything that is not text, a number or a choice is JSON. */
export type FieldKind = 'text' | 'integer' | 'number' | 'boolean' | 'enum' | 'json';

/** A field of an input. */
export interface InputField {
  readonly name: string;
  readonly kind: FieldKind;
  readonly required: boolean;
  readonly nullable: boolean;
  /** The values of an enum. */
  readonly values: readonly string[];
}

/** A type that the REST API lists, and what it may be asked for. */
export interface Module {
  readonly plural: string;
  readonly type: string;
  /** Its fields that are not relations, in the order of the schema. */
  readonly fields: readonly string[];
  /** The fields that a new row takes; null where none can be made. */
  readonly create: readonly InputField[] | null;
  /** The fields that can be changed; empty where none can. */
  readonly update: readonly InputField[];
  readonly remove: boolean;
}

/** The modules of a document: paths that answer with a page of rows. */
export function modulesOf({ paths, components }: OpenApi): Module[] {
  const schemas = components?.schemas ?? {};
  return Object.entries(paths).flatMap(([path, operations]) => {
    const plural = /^\/api\/([a-z0-9-]+)$/.exec(path)?.[1];
    const page = operations['get']?.responses?.['200']?.content?.['application/json']?.schema;
    const type = page?.properties?.['data']?.items?.$ref?.split('/').at(-1);
    if (plural === undefined || type === undefined || !page?.properties?.['pagination']) return [];
    const one = paths[`${path}/{id}`] ?? {};
    return [
      {
        plural,
        type,
        fields: columnsOf(schemas[type], schemas),
        create: operations['post'] ? inputFields(operations['post'], schemas) : null,
        update: one['patch'] ? changesOf(one['patch'], schemas[type], schemas) : [],
        remove: one['delete'] !== undefined,
      },
    ];
  });
}

const columnsOf = (row: Schema | undefined, schemas: Schemas): string[] =>
  Object.entries(row?.properties ?? {})
    .filter(([, property]) => !isRelation(property, schemas))
    .map(([name]) => name);

/** Related rows are in an answer only with `include=`. */
const isRelation = (property: Schema, schemas: Schemas): boolean =>
  [property, property.items, ...(property.anyOf ?? [])].some(
    (part) => part?.$ref !== undefined && resolved(part, schemas).properties !== undefined,
  );

function inputFields({ requestBody }: Operation, schemas: Schemas): InputField[] {
  const body = resolved(requestBody?.content?.['application/json']?.schema ?? {}, schemas);
  return Object.entries(body.properties ?? {}).map(([name, property]) => ({
    name,
    required: body.required?.includes(name) ?? false,
    ...kindOf(property, schemas),
  }));
}

/** An input may leave out every field. Only one that a row may lack can be set to null. */
const changesOf = (patch: Operation, row: Schema | undefined, schemas: Schemas): InputField[] =>
  inputFields(patch, schemas).map((field) => {
    const property = row?.properties?.[field.name];
    return { ...field, nullable: property !== undefined && kindOf(property, schemas).nullable };
  });

const KINDS: Readonly<Record<string, FieldKind>> = {
  string: 'text',
  integer: 'integer',
  number: 'number',
  boolean: 'boolean',
};

function kindOf(
  property: Schema,
  schemas: Schemas,
): Pick<InputField, 'kind' | 'nullable' | 'values'> {
  const parts = (property.anyOf ?? [property]).map((part) => resolved(part, schemas));
  const types = parts.flatMap(({ type }) => type ?? []);
  const values = parts.flatMap((part) => part.enum ?? []).filter((value) => value !== null);
  const nullable = types.includes('null') || parts.some((part) => part.enum?.includes(null));
  const named = types.filter((type) => type !== 'null');
  // A key is taken as text and as a number.
  const kind = named.includes('string') ? 'text' : (KINDS[named[0] ?? ''] ?? 'json');
  return { kind: values.length > 0 ? 'enum' : kind, nullable, values: values.map(String) };
}

const resolved = (schema: Schema, schemas: Schemas): Schema =>
  schema.$ref === undefined ? schema : (schemas[schema.$ref.split('/').at(-1)!] ?? {});
