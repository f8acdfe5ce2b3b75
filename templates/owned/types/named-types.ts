import { str } from '../../literal.ts';
import { above, type Definition, type Definitions } from './definitions.ts';
import { possibleTypes, type SchemaParts } from './schema-table.ts';
import { writtenEnum } from './written-shapes.ts';

/** The types of the schema and of its resolvers, with the names of graphql-codegen. */
export function printNamedTypes({ definitions, roots, unnamed }: SchemaParts): string[] {
  const { types, names } = definitions;
  const alternatives = new Set([...possibleTypes(types).values()].flat());
  const subscription = names(roots.subscription);
  return [
    TABLES,
    types.map((each) => printType(each, definitions)).join('\n'),
    types
      .filter(({ name }) => !unnamed?.has(name))
      .flatMap((each) =>
        printResolvers(each, {
          isAlternative: alternatives.has(each.name),
          isSubscription: each.name === subscription,
        }),
      )
      .join('\n'),
    ALL,
  ];
}

const ALL = 'export type Resolvers<ContextType = Context> = $.AllResolvers<$Schema, ContextType>;';

const TABLES = `export type Maybe<T> = T | null;
export type InputMaybe<T> = T | null | undefined;
export type RequireFields<T, K extends keyof T> = $.RequireFields<T, K>;
export type ResolverTypeWrapper<T> = $.ResolverTypeWrapper<T>;
export type Resolver<Result, Parent, ContextType, Args = Record<PropertyKey, never>> = $.Resolver<Result, Parent, ContextType, Args>;

/** Mapping between all available schema types and the resolvers types */
export type ResolversTypes = $.ResultTypes<$Schema>;

/** Mapping between all available schema types and the resolvers parents */
export type ResolversParentTypes = $.ParentTypes<$Schema>;`;

function printType(definition: Definition, known: Definitions): string {
  const { kind, name, comment, types, fields, oneOf } = definition;
  const start = `${above(comment)}export type ${name} =`;
  switch (kind) {
    case 'object':
    case 'interface':
      return [
        `${start} $.ObjectType<$Schema, '${name}'>;`,
        ...fields.flatMap((field) =>
          field.args.length === 0
            ? []
            : [
                `export type ${name}${field.name}Args = $.ArgsOf<$Schema, '${name}', '${field.name}'>;`,
              ],
        ),
      ].join('\n');
    case 'union':
      return `${start} ${types.join(' | ')};`;
    case 'enum':
      return `${start}${printEnum(definition, known)};`;
    case 'input':
      return `${start} $.${oneOf ? 'OneOfType' : 'InputType'}<$Schema, '${name}'>;`;
    case 'scalar':
      return `export interface ${name}ScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['${name}'], any> {\n  name: '${name}';\n}`;
  }
}

function printEnum(definition: Definition, known: Definitions): string {
  const written = writtenEnum(definition, known);
  if (written !== undefined) return ` ${written}`;
  const lines = definition.values.map(
    ({ name, comment }) => `${above(comment, '  ')}  | ${str(name)}`,
  );
  return `\n${lines.join('\n')}`;
}

interface ResolversOf {
  readonly isAlternative: boolean;
  readonly isSubscription: boolean;
}

function printResolvers(
  { kind, name }: Definition,
  { isAlternative, isSubscription }: ResolversOf,
): string[] {
  if (kind === 'scalar' || kind === 'enum' || kind === 'input') return [];
  const given = `$Schema, '${name}', ContextType, ParentType`;
  const type =
    kind === 'object'
      ? `$.${isSubscription ? 'SubscriptionsOf' : 'ResolversOf'}<${given}>`
      : `$.ResolveType<${given}>`;
  const own = isAlternative ? ' & $.IsTypeOf<ParentType, ContextType>' : '';
  return [
    `export type ${name}Resolvers<ContextType = Context, ParentType extends ResolversParentTypes['${name}'] = ResolversParentTypes['${name}']> = ${type}${own};`,
  ];
}
