import {
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isScalarType,
  isUnionType,
  type ASTNode,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  type GraphQLType,
  type ObjectTypeDefinitionNode,
  type ObjectTypeExtensionNode,
} from 'graphql';
import type { Argument, ColumnType, TypeKind, TypeRef } from '../model.ts';
import { createMemory } from '../remembered.ts';
import { camelCase, derivedTable, pluralize, snakeCase } from '../names.ts';
import type { ParsedSchema } from '../parse/schema.ts';
import type { SignIn } from '../manifest/section.ts';
import type { Manifest } from '../parse/manifest.ts';
import { classify, type ClassifiedType } from './classify.ts';
import { signInOf } from './settings.ts';
import { readFieldDirectives, type FieldDirectives } from '../directives/of-fields.ts';
import type { TypeDirectives } from '../directives/of-types.ts';
import { knownScalar } from '../scalars.ts';

/** Both parsed inputs. */
export interface Parsed {
  readonly schema: ParsedSchema;
  readonly manifest: Manifest;
  /**
   * How the user's own scalars are stored (`src/scalars.ts`). If given, a scalar that is missing
   * there is an error.
   */
  readonly scalars?: Readonly<Record<string, ColumnType>>;
  /** The entities with a file in `src/hooks/`. */
  readonly hooks?: UserHooks;
  /** Whether a hook of registration completes the user's row. */
  readonly completesUser?: boolean;
}

/** By the name of the entity: whether a hook of it completes creates. */
export type UserHooks = Readonly<Record<string, { readonly completesCreate: boolean }>>;

/**
 * The content of both inputs before anything is inferred. Rules and builders read it; it never
 * changes.
 */
export interface Facts {
  readonly parsed: ParsedSchema;
  readonly schema: GraphQLSchema;
  readonly manifest: Manifest;
  readonly types: ReadonlyMap<string, ClassifiedType>;
  readonly entities: ReadonlyMap<string, EntityFact>;
  /** How the user's own scalars are stored; null if the caller did not give them. */
  readonly scalars: ReadonlyMap<string, ColumnType> | null;
  readonly hooks: UserHooks;
  readonly completesUser: boolean;
  /** The sign-in settings; null if the manifest does not enable sign-in. */
  readonly signIn: SignIn | null;
}

export interface EntityFact {
  readonly name: string;
  readonly singular: string;
  readonly plural: string;
  readonly table: string;
  /** The schema of the table on PostgreSQL. */
  readonly schema?: string;
  /**
   * The fields of the key; undefined when it is the column of the field `id`, empty without one.
   */
  readonly key?: readonly string[];
  readonly directives: TypeDirectives;
  readonly fields: ReadonlyMap<string, FieldFact>;
  readonly node: ASTNode | undefined;
  /** The type's definition and its extensions. */
  readonly definitions: readonly (ObjectTypeDefinitionNode | ObjectTypeExtensionNode)[];
}

/** A field of an entity or of a root type. */
export interface FieldFact {
  readonly owner: string;
  readonly name: string;
  /** The name in the style of a database: `created_at`. */
  readonly snakeName: string;
  readonly field: GraphQLField<unknown, unknown>;
  readonly named: GraphQLNamedType;
  readonly type: TypeRef;
  readonly args: readonly Argument[];
  readonly directives: FieldDirectives;
  /** The field's name in the SDL, where findings about the field point. */
  readonly node: ASTNode | undefined;
}

/** `Post.author`: the name of a field in findings and in `explain`. */
export function coordinate(field: FieldFact): string {
  return `${field.owner}.${field.name}`;
}

/**
 * The rule for a field whose type is the query root: the server resolves it with the root again.
 */
export const QUERY_ROOT = 'query root';

/** Whether a field leads back to the query root: `viewer: Query`, `query: Query!` in a payload. */
export function isQueryRoot({ schema }: Facts, { named, type, args }: FieldFact): boolean {
  return named === schema.getQueryType() && !type.list && args.length === 0;
}

export function gatherFacts({
  schema: parsed,
  manifest,
  scalars,
  hooks,
  completesUser,
}: Parsed): Facts {
  const types = classify(parsed.schema);
  const entities = new Map<string, EntityFact>();
  for (const type of types.values())
    if (type.role === 'entity') entities.set(type.type.name, entityFact(type, types));
  return {
    parsed,
    schema: parsed.schema,
    manifest,
    types,
    entities,
    scalars: scalars ? new Map(Object.entries(scalars)) : null,
    hooks: hooks ?? {},
    completesUser: completesUser ?? false,
    signIn: signInOf(manifest.values),
  };
}

function entityFact({ type, directives }: ClassifiedType, types: Facts['types']): EntityFact {
  const plural = directives.entity?.plural ?? pluralize(camelCase(type.name));
  const key = keyFields(type, directives);
  return {
    name: type.name,
    singular: camelCase(type.name),
    plural,
    table: directives.table?.name ?? directives.entity?.table ?? derivedTable(snakeCase(plural)),
    ...(directives.table?.schema !== undefined && { schema: directives.table.schema }),
    ...(key && { key }),
    directives,
    fields: fieldFacts(type, types),
    node: type.astNode?.name,
    definitions: [...(type.astNode ? [type.astNode] : []), ...type.extensionASTNodes],
  };
}

function keyFields(
  type: ClassifiedType['type'],
  { table }: TypeDirectives,
): readonly string[] | undefined {
  const { id } = type.getFields();
  if (table?.key) return id && table.key.join() === 'id' ? undefined : table.key;
  // The `id` of a view may be that of several rows, or of none, unless the schema says `id: ID!`.
  const isKey = id && (!table?.view || isRequiredIdentifier(id.type));
  return isKey ? undefined : [];
}

const isRequiredIdentifier = (type: GraphQLType): boolean =>
  isNonNullType(type) && getNamedType(type).name === 'ID';

/** The fields of an object type, in the schema's order. */
export function fieldFacts(
  type: ClassifiedType['type'],
  types: Facts['types'],
): ReadonlyMap<string, FieldFact> {
  return fieldsByType(
    type,
    [types],
    () =>
      new Map(
        Object.values(type.getFields()).map((field) => [
          field.name,
          fieldFact(type.name, field, types),
        ]),
      ),
  );
}

/** The fields of root types are read twice, for operations and for objects. */
const fieldsByType = createMemory<ClassifiedType['type'], ReadonlyMap<string, FieldFact>>();

function fieldFact(
  owner: string,
  field: GraphQLField<unknown, unknown>,
  types: Facts['types'],
): FieldFact {
  return {
    owner,
    name: field.name,
    snakeName: snakeCase(field.name),
    field,
    named: getNamedType(field.type),
    type: typeRef(field.type, types),
    args: field.args.map((argument) => argumentFact(argument, types)),
    directives: readFieldDirectives([field.astNode ?? {}]),
    node: field.astNode?.name,
  };
}

function argumentFact(argument: GraphQLArgument, types: Facts['types']): Argument {
  const { constraint } = readFieldDirectives([argument.astNode ?? {}]);
  return {
    name: argument.name,
    type: typeRef(argument.type, types),
    ...(constraint && { constraint }),
  };
}

/**
 * The reference to a type in a field or argument.
 *
 * @example
 * typeRef(field.type, types) // { name: 'Post', kind: 'entity', text: '[Post!]!', required: true, list: true, itemRequired: true }
 */
function typeRef(type: GraphQLType, types: Facts['types']): TypeRef {
  const nullable = isNonNullType(type) ? type.ofType : type;
  const list = isListType(nullable);
  const named = getNamedType(type);
  return {
    name: named.name,
    kind: kindOf(named, types),
    text: String(type),
    required: isNonNullType(type),
    list,
    itemRequired: list && isNonNullType(nullable.ofType),
  };
}

function kindOf(type: GraphQLNamedType, types: Facts['types']): TypeKind {
  if (isScalarType(type)) return 'scalar';
  if (isEnumType(type)) return 'enum';
  if (isInterfaceType(type)) return 'interface';
  if (isUnionType(type)) return 'union';
  if (isInputObjectType(type)) return 'input';
  return types.get(type.name)?.role === 'entity' ? 'entity' : 'object';
}

/** The stored type of a single scalar or enum. */
export function scalarType(type: GraphQLNamedType, facts: Facts): ColumnType {
  if (isEnumType(type)) return 'text';
  return knownScalar(type.name)?.column ?? facts.scalars?.get(type.name) ?? 'text';
}
