import { createMemory } from '@twofold/schema';
import { propertyName } from '../../literal.ts';
import { inNaturalOrder } from '../../natural-order.ts';
import { type Definition, type Definitions, type Member, namedType } from './definitions.ts';
import { isRequired, printType } from './value-types.ts';

/** The parts that the types of resolvers are made from. */
export interface ResolverParts {
  readonly definitions: Definitions;
  /** Names of the root types. */
  readonly roots: {
    readonly query: string;
    readonly mutation: string;
    readonly subscription: string;
  };
  /** Row types by GraphQL type: a resolver gets the row as its parent. */
  readonly rows: ReadonlyMap<string, string>;
}

/** The parent, arguments and result of each resolver, by type and field. */
export function printResolverTypes(parts: ResolverParts): string[] {
  const context = describe(parts);
  const { definitions } = parts;
  const unions = definitions.types.filter(({ kind }) => kind === 'union');
  const interfaces = definitions.types.filter(({ kind }) => kind === 'interface');
  return [
    ...(unions.length > 0
      ? [printMembers('Mapping of union types', 'ResolversUnionTypes', unions, context)]
      : []),
    ...(interfaces.length > 0
      ? [printMembers('Mapping of interface types', 'ResolversInterfaceTypes', interfaces, context)]
      : []),
    printTypeMap(context),
    printParentMap(context),
    ...definitions.types.flatMap((definition) =>
      printed(definition, [resolversNeed(definition, context)], () =>
        printResolvers(definition, context),
      ),
    ),
    printAll(definitions.types),
  ];
}

interface Context extends ResolverParts {
  /** Every type, including built-in types. */
  readonly listed: readonly Definition[];
  readonly byName: ReadonlyMap<string, Definition>;
  /** Object types of each interface and union. */
  readonly possible: ReadonlyMap<string, readonly string[]>;
  /** Object types that belong to an interface or union. */
  readonly alternatives: ReadonlySet<string>;
  readonly rootTypes: ReadonlySet<string>;
  /**
   * Types whose resolvers return another type than the GraphQL one: rows, and objects that contain
   * rows.
   */
  readonly replaced: ReadonlySet<string>;
}

function describe(parts: ResolverParts): Context {
  const { definitions, roots } = parts;
  const byName = new Map(definitions.types.map((definition) => [definition.name, definition]));
  const possible = possibleTypes(definitions.types);
  const builtin = [...definitions.builtin].map((name): Definition => ({
    kind: 'scalar',
    name,
    comment: '',
    fields: [],
    types: [],
    values: [],
    oneOf: false,
  }));
  return {
    ...parts,
    listed: inNaturalOrder([...builtin, ...definitions.types], ({ name }) => name),
    byName,
    possible,
    alternatives: new Set([...possible.values()].flat()),
    rootTypes: new Set(Object.values(roots).map(definitions.names)),
    replaced: replacedTypes(parts),
  };
}

function possibleTypes(types: readonly Definition[]): Map<string, string[]> {
  const possible = new Map<string, string[]>();
  for (const { kind, name, types: named } of types)
    if (kind === 'union') possible.set(name, [...named]);
  for (const { kind, name } of types) if (kind === 'interface') possible.set(name, []);
  for (const { kind, name, types: named } of types)
    if (kind === 'object') for (const face of named) possible.get(face)?.push(name);
  return possible;
}

/** Rows and abstract types, and transitively every object that contains one. */
function replacedTypes({ definitions: { types, names }, rows }: ResolverParts): Set<string> {
  const holders = new Map<string, string[]>();
  for (const { kind, name, fields } of types) {
    if (kind !== 'object') continue;
    for (const { type } of fields) {
      const held = names(namedType(type));
      const known = holders.get(held);
      if (known) known.push(name);
      else holders.set(held, [name]);
    }
  }
  const replaced = new Set(
    types
      .filter(({ kind, name }) => rows.has(name) || kind === 'interface' || kind === 'union')
      .map(({ name }) => name),
  );
  // A loop over a set also visits the items that are added during the loop.
  for (const name of replaced) for (const holder of holders.get(name) ?? []) replaced.add(holder);
  return replaced;
}

/** The row type, or the type itself with those fields replaced that contain rows. */
function valueOf(
  { name, fields }: Definition,
  { replaced, rows, definitions: { names } }: Context,
  table: string,
): string {
  const row = rows.get(name);
  if (row !== undefined) return row;
  const changed = fields.filter(({ type }) => replaced.has(names(namedType(type))));
  if (changed.length === 0) return name;
  const leaf = (type: string) => `${table}['${names(type)}']`;
  const members = changed.map(
    (field) =>
      `${propertyName(field.name)}${isRequired(field.type) ? '' : '?'}: ${printType(field.type, leaf, 'Maybe')}`,
  );
  return `Omit<${name}, ${changed.map((field) => `'${field.name}'`).join(' | ')}> & { ${members.join(', ')} }`;
}

function printMembers(
  about: string,
  table: string,
  abstract: readonly Definition[],
  context: Context,
): string {
  const lines = abstract.map(({ name }) => {
    const members = (context.possible.get(name) ?? []).map(
      (type) => `( ${valueOf(context.byName.get(type)!, context, '_RefType')} )`,
    );
    return `  ${name}: ${members.length > 1 ? `\n    | ${members.join('\n    | ')}\n  ` : (members[0] ?? 'never')};`.replace(
      ': \n',
      ':\n',
    );
  });
  return `/** ${about} */\nexport type ${table}<_RefType extends Record<string, unknown>> = {\n${lines.join('\n')}\n};`;
}

const NOTHING = 'Record<PropertyKey, never>';

function printTypeMap(context: Context): string {
  const wrapped = (definition: Definition) =>
    `ResolverTypeWrapper<${entryOf(definition, context, 'ResolversTypes')}>`;
  const bare = (definition: Definition) =>
    definition.kind === 'enum' || definition.kind === 'input';
  return printMap('ResolversTypes', 'resolvers types', context, (definition) =>
    bare(definition) ? definition.name : wrapped(definition),
  );
}

function printParentMap(context: Context): string {
  return printMap('ResolversParentTypes', 'resolvers parents', context, (definition) =>
    definition.kind === 'enum' ? null : entryOf(definition, context, 'ResolversParentTypes'),
  );
}

function printMap(
  table: string,
  about: string,
  { listed }: Context,
  print: (definition: Definition) => string | null,
): string {
  const lines = listed.flatMap((definition) => {
    const text = print(definition);
    return text === null ? [] : [`  ${definition.name}: ${text};`];
  });
  return `/** Mapping between all available schema types and the ${about} */\nexport type ${table} = {\n${lines.join('\n')}\n};`;
}

function entryOf(definition: Definition, context: Context, table: string): string {
  const { kind, name } = definition;
  switch (kind) {
    case 'scalar':
      return `ScalarTypes['${name}']['output']`;
    case 'object':
      return context.rootTypes.has(name) ? NOTHING : valueOf(definition, context, table);
    case 'interface':
      return `ResolversInterfaceTypes<${table}>['${name}']`;
    case 'union':
      return `ResolversUnionTypes<${table}>['${name}']`;
    default:
      return name;
  }
}

const printed = createMemory<Definition, readonly string[]>();

/** The inputs of `printResolvers` for one type, as a cache key. */
function resolversNeed({ name }: Definition, { roots, alternatives, possible }: Context): string {
  return `${roots.subscription} ${alternatives.has(name)} ${possible.get(name)?.join(' ') ?? ''}`;
}

function printResolvers(definition: Definition, context: Context): string[] {
  const { kind, name } = definition;
  if (kind === 'scalar')
    return [
      `export interface ${name}ScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['${name}'], any> {\n  name: '${name}';\n}`,
    ];
  if (kind === 'enum' || kind === 'input') return [];
  const lines =
    kind === 'object'
      ? definition.fields.map((field) => printResolver(definition, field, context))
      : [resolveType(name, context)];
  if (context.alternatives.has(name))
    lines.push('  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;');
  return [
    `export type ${name}Resolvers<ContextType = Context, ParentType extends ResolversParentTypes['${name}'] = ResolversParentTypes['${name}']> = {\n${lines.join('\n')}\n};`,
  ];
}

function resolveType(name: string, { possible }: Context): string {
  const members = possible.get(name) ?? [];
  return `  __resolveType: TypeResolveFn<${members.map((member) => `'${member}'`).join(' | ') || 'null'}, ParentType, ContextType>;`;
}

function printResolver(
  { name: owner }: Definition,
  field: Member,
  { definitions, roots }: Context,
): string {
  const { name, type, args } = field;
  const leaf = (named: string) => `ResolversTypes['${definitions.names(named)}']`;
  const subscribed = owner === definitions.names(roots.subscription);
  const words = [
    printType(type, leaf, 'Maybe'),
    ...(subscribed ? [`"${name}"`] : []),
    'ParentType',
    'ContextType',
    ...(args.length > 0 ? [argumentsOf(owner, field)] : []),
  ];
  return `  ${propertyName(name)}?: ${subscribed ? 'SubscriptionResolver' : 'Resolver'}<${words.join(', ')}>;`;
}

/** The arguments of a resolver: those that are required or have a default are never absent. */
function argumentsOf(owner: string, { name, args }: Member): string {
  const present = args
    .filter(({ type, hasDefault }) => isRequired(type) || hasDefault)
    .map((arg) => `'${arg.name}'`);
  return present.length > 0
    ? `RequireFields<${owner}${name}Args, ${present.join(' | ')}>`
    : `Partial<${owner}${name}Args>`;
}

function printAll(types: readonly Definition[]): string {
  const lines = types.flatMap(({ kind, name }) => {
    if (kind === 'enum' || kind === 'input') return [];
    return [
      `  ${name}?: ${kind === 'scalar' ? 'GraphQLScalarType' : `${name}Resolvers<ContextType>`};`,
    ];
  });
  return `export type Resolvers<ContextType = Context> = {\n${lines.join('\n')}\n};`;
}
