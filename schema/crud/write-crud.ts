import { isEnumType, isInputObjectType, isObjectType, isScalarType } from 'graphql';
import type { GraphQLNamedType } from 'graphql';
import type { Built } from '../build/built.ts';
import { nestedFields, rootFields, type Roots } from './fields.ts';
import { heldTypes } from './filters.ts';
import type { CrudItem } from './item.ts';
import { typeItems } from './type-items.ts';

/** The definitions that `api.crud` and `@crud` add to a schema. */
export interface CrudSdl {
  /**
   * All of these definitions, including those that the user has written in their place, in the
   * order of the API.
   */
  readonly items: readonly CrudItem[];
  /** The definitions that the schema does not declare, and that are therefore added. */
  readonly written: readonly CrudItem[];
  /** The definitions whose name has another meaning in the schema. */
  readonly taken: readonly CrudItem[];
  /** Whether everybody may call it, because there is no sign-in. */
  readonly isOpen: boolean;
  /** The extension of the schema definition that a new type Mutation needs. */
  readonly rootDefinition?: string;
}

/**
 * Computes the definitions to add, from a schema without them.
 *
 * @example
 * writeCrud(build(parsed)).written.map(({ name }) => name) // ['Query.post', 'Query.posts', …, 'PostFilter']
 */
export function writeCrud(built: Built): CrudSdl {
  const { schema, entities } = built.facts;
  const roots: Roots = {
    query: schema.getQueryType()?.name ?? 'Query',
    mutation: schema.getMutationType()?.name ?? 'Mutation',
  };
  const all = [...entities.values()];
  const fields = [
    ...all.flatMap((entity) => rootFields(built, entity, roots)),
    ...all.flatMap((entity) => nestedFields(built, entity)),
  ];
  const free = fields.filter((field) => !isOwnField(built, field));
  const types = typeItems(built);
  const undeclared = types.filter(({ name }) => !isDeclared(built, name));
  const own = types.filter((item) => isDeclared(built, item.name));
  const held = new Set(heldTypes(built).map(({ type }) => type.name));
  const fits = (item: CrudItem) =>
    !held.has(item.name) && isOfKind(schema.getType(item.name), item);
  const [used, needed] = [
    reached(built, [...fields, ...own.filter(fits)], types),
    reached(built, free, undeclared),
  ];
  const declared = new Set(own);
  const named = new Set([...used].map(({ name }) => name));
  return {
    items: [...fields, ...types.filter((item) => named.has(item.name) || declared.has(item))],
    written: [...free, ...undeclared.filter((item) => needed.has(item))],
    taken: [
      ...own.filter((item) => used.has(item) && !fits(item)),
      ...repeated([...fields, ...types.filter((item) => named.has(item.name))]),
    ],
    isOpen: built.facts.signIn === null,
    ...rootDefinition(built, fields),
  };
}

/**
 * The extension of the schema definition, if there is one: a type called Mutation is then a root
 * type only if that definition names it.
 */
function rootDefinition({ facts: { schema } }: Built, fields: readonly CrudItem[]) {
  const isRoot = schema.getMutationType() !== undefined || !schema.astNode;
  return isRoot || fields.every(({ owner }) => owner !== 'Mutation')
    ? {}
    : { rootDefinition: 'extend schema {\n  mutation: Mutation\n}' };
}

/** All types to which these items, and unknown names of the schema, refer directly or through others. */
function reached(
  built: Built,
  from: readonly CrudItem[],
  types: readonly CrudItem[],
): ReadonlySet<CrudItem> {
  const byName = new Map(types.map((item) => [item.name, item]));
  const found = new Set<CrudItem>();
  const open = [...built.facts.parsed.unknown, ...from.flatMap((item) => namesIn(built, item))];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const item = byName.get(name);
    if (!item || found.has(item)) continue;
    found.add(item);
    for (const other of namesIn(built, item)) if (byName.has(other)) open.push(other);
  }
  return found;
}

/** The types that an item refers to, without those that are values: a field `kind: OrderFilter`. */
function namesIn(built: Built, { name, of, text }: CrudItem): string[] {
  const fields = built.facts.entities.get(of?.name ?? '')?.fields;
  const isValue = (member: string, type: string) =>
    isDeclared(built, type) &&
    (of ? fields?.get(member)?.named.name === type : name.startsWith(type));
  return Array.from(text.matchAll(/(\w*)\)?:\s*\[*([A-Za-z_]\w*)/g)).flatMap(
    ([, member = '', type = '']) => (isValue(member, type) ? [] : [type]),
  );
}

/** Whether the schema declares a name. A name that is only used is not declared. */
const isDeclared = ({ facts: { schema, parsed } }: Built, name: string): boolean =>
  schema.getType(name) !== undefined && !parsed.unknown.has(name);

function isOwnField({ facts: { schema } }: Built, { owner = '', name }: CrudItem): boolean {
  const type = schema.getType(owner);
  return isObjectType(type) && type.getFields()[name.slice(owner.length + 1)] !== undefined;
}

const KINDS: Readonly<Record<CrudItem['keyword'], (type: GraphQLNamedType) => boolean>> = {
  type: isObjectType,
  input: isInputObjectType,
  enum: isEnumType,
  scalar: isScalarType,
};

const isOfKind = (type: GraphQLNamedType | undefined, { keyword, orEnum }: CrudItem): boolean =>
  type === undefined || KINDS[keyword](type) || (orEnum === true && isEnumType(type));

/**
 * Two types of the schema may need one name: the filter of `PostList`, and that of lists of posts.
 */
function repeated(items: readonly CrudItem[]): CrudItem[] {
  const seen = new Set<string>();
  return items.filter(({ name }) => seen.has(name) || !seen.add(name));
}
