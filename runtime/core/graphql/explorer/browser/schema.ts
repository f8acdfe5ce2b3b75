/** The part of an introspection result that the page reads, as the GraphQL specification names it (section 4.2). */
export interface TypeRef {
  readonly kind: string;
  readonly name?: string | null;
  readonly ofType?: TypeRef | null;
}

interface Named {
  readonly name: string;
  readonly description?: string | null;
}

export interface Argument extends Named {
  readonly type: TypeRef;
  readonly defaultValue?: string | null;
}

/** A field, or a value of an enum, which has neither arguments nor a type. */
export interface Member extends Named {
  readonly isDeprecated?: boolean;
  readonly deprecationReason?: string | null;
  readonly args?: readonly Argument[];
  readonly type?: TypeRef;
}

export interface Field extends Member {
  readonly args: readonly Argument[];
  readonly type: TypeRef;
}

export interface Type extends Named {
  readonly kind: string;
  readonly fields?: readonly Field[] | null;
  readonly inputFields?: readonly Argument[] | null;
  readonly enumValues?: readonly Member[] | null;
  readonly interfaces?: readonly Named[] | null;
  readonly possibleTypes?: readonly Named[] | null;
}

export interface Directive extends Named {
  readonly args: readonly Argument[];
}

export const OPERATIONS = ['query', 'mutation', 'subscription'] as const;

type Operation = (typeof OPERATIONS)[number];

/** A schema by the names of its types; an operation that it does not have is null. */
export interface Schema extends Readonly<Record<Operation, string | null>> {
  readonly types: ReadonlyMap<string, Type>;
  readonly directives: readonly Directive[];
}

export type Introspection = {
  readonly types: readonly Type[];
  readonly directives: readonly Directive[];
} & { readonly [key in `${Operation}Type`]: { readonly name: string } | null };

/** Asks for all that the page shows; a type may be wrapped in four lists or `!`. */
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

export function readSchema(data: Introspection): Schema {
  return {
    types: new Map(data.types.map((type) => [type.name, type])),
    directives: data.directives,
    query: data.queryType?.name ?? null,
    mutation: data.mutationType?.name ?? null,
    subscription: data.subscriptionType?.name ?? null,
  };
}

/** The name of the type inside all lists and `!`. */
export function namedType(type: TypeRef): string {
  return type.ofType ? namedType(type.ofType) : (type.name ?? '');
}

/** The type as SDL writes it. */
export function typeText(type: TypeRef): string {
  if (type.kind === 'NON_NULL' && type.ofType) return `${typeText(type.ofType)}!`;
  return type.kind === 'LIST' && type.ofType ? `[${typeText(type.ofType)}]` : (type.name ?? '');
}

export function findField(
  schema: Schema,
  type: string | null | undefined,
  name: string,
): Field | undefined {
  return schema.types.get(type ?? '')?.fields?.find((field) => field.name === name);
}
