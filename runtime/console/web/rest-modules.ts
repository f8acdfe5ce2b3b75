/** The parts of the OpenAPI document that say which types the REST API lists. */
export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}

interface Operation {
  readonly responses?: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> }>
  >;
}

interface Schema {
  readonly type?: string | readonly string[];
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

/** A type that the REST API lists. */
export interface Module {
  readonly plural: string;
  readonly type: string;
  /** Its fields that are not relations, in the order of the schema. */
  readonly fields: readonly string[];
}

/** The modules of a document: paths that answer with a page of rows. */
export function modulesOf({ paths, components }: OpenApi): Module[] {
  const schemas = components?.schemas ?? {};
  return Object.entries(paths).flatMap(([path, operations]) => {
    const plural = /^\/api\/([a-z0-9-]+)$/.exec(path)?.[1];
    const page = operations['get']?.responses?.['200']?.content?.['application/json']?.schema;
    const type = page?.properties?.['data']?.items?.$ref?.split('/').at(-1);
    const row = type === undefined ? undefined : schemas[type];
    if (plural === undefined || type === undefined || !page?.properties?.['pagination']) return [];
    const fields = Object.entries(row?.properties ?? {}).filter(
      ([, property]) => !isRelation(property, schemas),
    );
    return [{ plural, type, fields: fields.map(([name]) => name) }];
  });
}

/** Related rows are in an answer only with `include=`. */
function isRelation(property: Schema, schemas: Readonly<Record<string, Schema>>): boolean {
  const parts = [property, property.items, ...(property.anyOf ?? [])];
  return parts.some((part) => {
    const name = part?.$ref?.split('/').at(-1);
    return name !== undefined && schemas[name]?.properties !== undefined;
  });
}
