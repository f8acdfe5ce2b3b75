import { first, lookUp } from '@twofold/schema';
import {
  type DirectiveNode,
  type FieldNode,
  getNamedType,
  type GraphQLCompositeType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  isCompositeType,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  TypeMetaFieldDef,
} from 'graphql';
import { fragmentNamed, type FrontEnd } from './operation.ts';
import { typeName } from './type-name.ts';

/** The options on which the type of a selection depends. */
export type Selecting = Pick<FrontEnd, 'schema' | 'scalars' | 'fragments'>;

/** The fields of one object type under their keys in the answer, gathered from all fragments. */
type Gathered = Map<string, GatheredField>;

interface GatheredField {
  readonly nodes: FieldNode[];
  /** Whether every place that selects it has `@skip` or `@include`. */
  optional: boolean;
}

/**
 * The type of an answer, in the form of graphql-codegen: a union with one object for each type that
 * the answer can have. A type without selected fields is an empty object.
 */
export function selectionType(
  type: GraphQLCompositeType,
  selections: readonly SelectionSetNode[],
  given: Selecting,
  indent = '',
): string {
  return unionOf(memberTypes(type, selections, { ...given, empty: true }, indent), indent);
}

/**
 * The type of a fragment. Unlike in `selectionType`, types without selected fields are left out.
 */
export function fragmentType(
  type: GraphQLCompositeType,
  selections: readonly SelectionSetNode[],
  given: Selecting,
): string {
  return unionOf(memberTypes(type, selections, { ...given, empty: false }, ''), '');
}

function memberTypes(
  type: GraphQLCompositeType,
  selections: readonly SelectionSetNode[],
  given: Selecting & { readonly empty: boolean },
  indent: string,
): string[] {
  let hasEmpty = false;
  const members = new Set<string>();
  for (const object of possibleTypes(type, given)) {
    const { base, optional } = gather(object, selections, given);
    if (base.size === 0) hasEmpty = true;
    const all = new Map([...optional, ...base]);
    for (const [key, field] of optional)
      if (base.has(key)) all.set(key, together(lookUp(base, key), field));
    if (all.size > 0) members.add(objectType(object, all, given, indent));
  }
  return [...members, ...(hasEmpty && given.empty ? ['Record<PropertyKey, never>'] : [])];
}

function unionOf(members: readonly string[], indent: string): string {
  if (members.length < 2) return members[0] ?? 'never';
  return members.map((member) => `\n${indent}  | ${member.replaceAll('\n', '\n  ')}`).join('');
}

function possibleTypes(type: GraphQLCompositeType, { schema }: Selecting): GraphQLObjectType[] {
  if (isObjectType(type)) return [type];
  return [...schema.getPossibleTypes(type)].sort((a, b) => (a.name < b.name ? -1 : 1));
}

const together = (a: GatheredField, b: GatheredField): GatheredField => ({
  nodes: [...a.nodes, ...b.nodes],
  optional: a.optional && b.optional,
});

/**
 * The fields of an object type. Those of a fragment with `@skip` or `@include` right in the
 * selection are `optional`: graphql-codegen counts a type that has only these as empty too.
 */
function gather(
  object: GraphQLObjectType,
  selections: readonly SelectionSetNode[],
  given: Selecting,
): { readonly base: Gathered; readonly optional: Gathered } {
  const base: Gathered = new Map();
  const optional: Gathered = new Map();
  const seen = new Set<string>();
  const visit = (set: SelectionSetNode, into: Gathered, isOptional: boolean, depth: number) => {
    for (const each of set.selections) {
      const conditional = isConditional(each.directives);
      if (each.kind === Kind.FIELD) {
        // graphql-codegen does the same: caches add `__typename` without a condition.
        const isTypename = each.name.value === '__typename';
        addField(into, each, (isOptional || conditional) && !isTypename);
        continue;
      }
      const inner = bodyOf(each, given);
      const key =
        each.kind === Kind.FRAGMENT_SPREAD && `${each.name.value} ${isOptional || conditional}`;
      if (!inner || !applies(inner.on, object, given) || (key && seen.has(key))) continue;
      if (key) seen.add(key);
      const place = depth === 0 && conditional ? optional : into;
      visit(inner.set, place, isOptional || conditional, depth + 1);
    }
  };
  for (const set of selections) visit(set, base, false, 0);
  return { base, optional };
}

function addField(into: Gathered, node: FieldNode, optional: boolean): void {
  const key = node.alias?.value ?? node.name.value;
  const known = into.get(key);
  if (!known) into.set(key, { nodes: [node], optional });
  else {
    known.nodes.push(node);
    known.optional &&= optional;
  }
}

function bodyOf(
  node: Exclude<SelectionSetNode['selections'][number], FieldNode>,
  given: Selecting,
): { readonly on: string | undefined; readonly set: SelectionSetNode } | undefined {
  if (node.kind === Kind.INLINE_FRAGMENT)
    return { on: node.typeCondition?.name.value, set: node.selectionSet };
  const fragment = fragmentNamed(given, node.name.value)?.node;
  return fragment && { on: fragment.typeCondition.name.value, set: fragment.selectionSet };
}

function applies(
  on: string | undefined,
  object: GraphQLObjectType,
  { schema }: Selecting,
): boolean {
  if (on === undefined || on === object.name) return true;
  const type = schema.getType(on);
  return isCompositeType(type) && !isObjectType(type) && schema.isSubType(type, object);
}

const isConditional = (directives: readonly DirectiveNode[] = []) =>
  directives.some(({ name: { value } }) => value === 'skip' || value === 'include');

function objectType(
  object: GraphQLObjectType,
  fields: Gathered,
  given: Selecting,
  indent: string,
): string {
  const lines = [...fields].map(([key, { nodes, optional }]) => {
    const type = fieldType(object, nodes, given, `${indent}  `);
    return `${indent}  ${key}${optional ? '?' : ''}: ${type};\n`;
  });
  return `{\n${lines.join('')}${indent}}`;
}

function fieldType(
  object: GraphQLObjectType,
  nodes: readonly FieldNode[],
  given: Selecting,
  indent: string,
): string {
  const name = first(nodes).name.value;
  if (name === '__typename') return `'${object.name}'`;
  const field =
    object.getFields()[name] ?? (name === '__type' ? TypeMetaFieldDef : SchemaMetaFieldDef);
  const named = getNamedType(field.type);
  const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
  const base = isCompositeType(named)
    ? selectionType(named, sets, given, indent)
    : isEnumType(named)
      ? typeName(named.name)
      : (given.scalars[named.name]?.output ?? 'unknown');
  return wrapped(field.type, base);
}

/** `[Post!]` as `Array<Post> | null`. */
function wrapped(type: GraphQLOutputType, base: string): string {
  if (isNonNullType(type)) return withoutNull(type.ofType, base);
  return `${withoutNull(type, base)} | null`;
}

function withoutNull(type: GraphQLOutputType, base: string): string {
  return isListType(type) ? `Array<${wrapped(type.ofType, base)}>` : base;
}
