import {
  type DefinitionNode,
  type FieldDefinitionNode,
  Kind,
  parse,
  print,
  type TypeDefinitionNode,
  type TypeNode,
} from 'graphql';
import type {
  AbstractType,
  Argument,
  Constraint,
  EnumType,
  TypeKind,
  TypeRef,
} from '@twofold/schema';

/**
 * The parts of the model that the SDL alone defines: type references, arguments, enums, and members
 * of interfaces and unions.
 */
export interface SdlTypes {
  readonly definitions: ReadonlyMap<string, TypeDefinitionNode>;
  readonly enums: readonly EnumType[];
  readonly abstracts: readonly AbstractType[];
  /** `query` → `Query`, or as the schema definition names it. */
  readonly roots: Readonly<Partial<Record<'query' | 'mutation' | 'subscription', string>>>;
  fieldsOf(type: string): readonly FieldDefinitionNode[];
  interfacesOf(type: string): readonly string[];
  typeRef(node: TypeNode): TypeRef;
  arguments(type: string, field: FieldDefinitionNode): Argument[];
}

export interface SdlReading {
  readonly isEntity: (type: string) => boolean;
  /** Limits of an argument, by schema coordinate. */
  readonly constraintOf: (coordinate: string) => Constraint | undefined;
}

/** Reads the types of an SDL that is known to be valid. */
export function readTypes(sdl: string, { isEntity, constraintOf }: SdlReading): SdlTypes {
  const { definitions: all } = parse(sdl, { noLocation: true });
  const definitions = mergeExtensions(all);
  const kindOf = (name: string) => typeKind(definitions.get(name), isEntity);
  const objects = [...definitions.values()].filter(
    (node) => node.kind === Kind.OBJECT_TYPE_DEFINITION,
  );
  const fieldsOf = (type: string) => {
    const node = definitions.get(type);
    return node && 'fields' in node && node.kind !== Kind.INPUT_OBJECT_TYPE_DEFINITION
      ? (node.fields ?? [])
      : [];
  };
  const interfacesOf = (type: string) => {
    const node = definitions.get(type);
    return node && 'interfaces' in node
      ? (node.interfaces ?? []).map((each) => each.name.value)
      : [];
  };
  const typeRef = (node: TypeNode) => readTypeRef(node, kindOf);
  return {
    definitions,
    fieldsOf,
    interfacesOf,
    typeRef,
    roots: readRoots(all, definitions),
    enums: [...definitions.values()].flatMap((node) =>
      node.kind === Kind.ENUM_TYPE_DEFINITION
        ? [{ name: node.name.value, values: (node.values ?? []).map((value) => value.name.value) }]
        : [],
    ),
    abstracts: [...definitions.values()].flatMap((node) =>
      readAbstract(node, (name) =>
        objects
          .map((object) => object.name.value)
          .filter((object) => interfacesOf(object).includes(name)),
      ),
    ),
    arguments: (type, field) =>
      (field.arguments ?? []).map((node) => {
        const constraint = constraintOf(`${type}.${field.name.value}(${node.name.value}:)`);
        return {
          name: node.name.value,
          type: typeRef(node.type),
          ...(constraint && { constraint }),
        };
      }),
  };
}

/** Types by name, each with what `extend` adds to it. */
function mergeExtensions(all: readonly DefinitionNode[]): Map<string, TypeDefinitionNode> {
  const merged = new Map<string, TypeDefinitionNode>(
    all.filter(isTypeDefinition).map((node) => [node.name.value, node]),
  );
  for (const node of all) {
    if (!('name' in node) || !node.kind.endsWith('TypeExtension')) continue;
    const name = node.name!.value;
    const extension = node as unknown as Members;
    const type = merged.get(name) as (TypeDefinitionNode & Members) | undefined;
    if (type) merged.set(name, { ...type, ...joined(type, extension) } as TypeDefinitionNode);
  }
  return merged;
}

const MEMBERS = ['fields', 'interfaces', 'values', 'types'] as const;
type Members = Partial<Record<(typeof MEMBERS)[number], readonly unknown[]>>;

function joined(type: Members, extension: Members): Members {
  const both = MEMBERS.filter((part) => type[part] !== undefined || extension[part] !== undefined);
  return Object.fromEntries(
    both.map((part) => [part, [...(type[part] ?? []), ...(extension[part] ?? [])]]),
  );
}

function isTypeDefinition(node: DefinitionNode): node is TypeDefinitionNode {
  return node.kind.endsWith('TypeDefinition');
}

function typeKind(
  node: TypeDefinitionNode | undefined,
  isEntity: (type: string) => boolean,
): TypeKind {
  switch (node?.kind) {
    case Kind.OBJECT_TYPE_DEFINITION:
      return isEntity(node.name.value) ? 'entity' : 'object';
    case Kind.INTERFACE_TYPE_DEFINITION:
      return 'interface';
    case Kind.UNION_TYPE_DEFINITION:
      return 'union';
    case Kind.ENUM_TYPE_DEFINITION:
      return 'enum';
    case Kind.INPUT_OBJECT_TYPE_DEFINITION:
      return 'input';
    default:
      return 'scalar';
  }
}

function readTypeRef(node: TypeNode, kindOf: (name: string) => TypeKind): TypeRef {
  const outer = node.kind === Kind.NON_NULL_TYPE ? node.type : node;
  const list = outer.kind === Kind.LIST_TYPE;
  const name = innermost(node);
  return {
    name,
    kind: kindOf(name),
    text: print(node),
    required: node.kind === Kind.NON_NULL_TYPE,
    list,
    itemRequired: list && outer.type.kind === Kind.NON_NULL_TYPE,
  };
}

function innermost(node: TypeNode): string {
  return node.kind === Kind.NAMED_TYPE ? node.name.value : innermost(node.type);
}

function readAbstract(
  node: TypeDefinitionNode,
  implementers: (name: string) => string[],
): AbstractType[] {
  const name = node.name.value;
  if (node.kind === Kind.INTERFACE_TYPE_DEFINITION)
    return [{ name, kind: 'interface', members: implementers(name) }];
  if (node.kind === Kind.UNION_TYPE_DEFINITION)
    return [{ name, kind: 'union', members: (node.types ?? []).map((type) => type.name.value) }];
  return [];
}

function readRoots(
  all: readonly DefinitionNode[],
  definitions: ReadonlyMap<string, unknown>,
): SdlTypes['roots'] {
  const schema = all.find((node) => node.kind === Kind.SCHEMA_DEFINITION);
  if (schema)
    return Object.fromEntries(
      schema.operationTypes.map((root) => [root.operation, root.type.name.value]),
    );
  const named = [
    ['query', 'Query'],
    ['mutation', 'Mutation'],
    ['subscription', 'Subscription'],
  ] as const;
  return Object.fromEntries(named.filter(([, name]) => definitions.has(name)));
}
