/**
 * The part of an introspection result that the page reads, as the GraphQL specification names it
 * (section 4.2).
 */
export interface TypeReference {
  readonly kind: string;
  readonly name?: string | null;
  readonly ofType?: TypeReference | null;
}

interface Described {
  readonly name: string;
  readonly description?: string | null;
}

export interface SchemaArgument extends Described {
  readonly type: TypeReference;
  readonly defaultValue?: string | null;
}

/** A field, or a value of an enum, which has neither arguments nor a type. */
export interface SchemaMember extends Described {
  readonly isDeprecated?: boolean;
  readonly deprecationReason?: string | null;
  readonly args?: readonly SchemaArgument[];
  readonly type?: TypeReference;
}

export interface SchemaField extends SchemaMember {
  readonly args: readonly SchemaArgument[];
  readonly type: TypeReference;
}

export interface SchemaType extends Described {
  readonly kind: string;
  readonly fields?: readonly SchemaField[] | null;
  readonly inputFields?: readonly SchemaArgument[] | null;
  readonly enumValues?: readonly SchemaMember[] | null;
  readonly interfaces?: readonly Described[] | null;
  readonly possibleTypes?: readonly Described[] | null;
}

export interface SchemaDirective extends Described {
  readonly args: readonly SchemaArgument[];
}

export const OPERATIONS = ['query', 'mutation', 'subscription'] as const;

type OperationKind = (typeof OPERATIONS)[number];

/**
 * The types of a schema by name, and its root types. The name of a root type that the schema does
 * not have is null.
 */
export interface ClientSchema extends Readonly<Record<OperationKind, string | null>> {
  readonly types: ReadonlyMap<string, SchemaType>;
  readonly directives: readonly SchemaDirective[];
}

export type Introspection = {
  readonly types: readonly SchemaType[];
  readonly directives: readonly SchemaDirective[];
} & { readonly [key in `${OperationKind}Type`]: { readonly name: string } | null };

/** Reads everything that the page shows. A type may be wrapped in up to four lists or `!`. */
export const INTROSPECTION = `query Introspection {
  __schema {
    queryType { name }
    mutationType { name }
    subscriptionType { name }
    types {
      kind name description
      fields(includeDeprecated: true) {
        name description isDeprecated deprecationReason
        args { name description defaultValue type { ...T } }
        type { ...T }
      }
      inputFields { name description defaultValue type { ...T } }
      enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason }
      interfaces { name }
      possibleTypes { name }
    }
    directives { name description args { name type { ...T } } }
  }
}
fragment T on __Type {
  kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } }
}`;

export function readSchema(data: Introspection): ClientSchema {
  return {
    types: new Map(data.types.map((type) => [type.name, type])),
    directives: data.directives,
    query: data.queryType?.name ?? null,
    mutation: data.mutationType?.name ?? null,
    subscription: data.subscriptionType?.name ?? null,
  };
}

/** The name of the type inside all lists and `!`. */
export function namedType(type: TypeReference): string {
  return type.ofType ? namedType(type.ofType) : (type.name ?? '');
}

/** The type as SDL writes it. */
export function typeText(type: TypeReference): string {
  if (type.kind === 'NON_NULL' && type.ofType) return `${typeText(type.ofType)}!`;
  return type.kind === 'LIST' && type.ofType ? `[${typeText(type.ofType)}]` : (type.name ?? '');
}

export function findField(
  schema: ClientSchema,
  type: string | null | undefined,
  name: string,
): SchemaField | undefined {
  return schema.types.get(type ?? '')?.fields?.find((field) => field.name === name);
}
