import { buildASTSchema, type GraphQLSchema, isInterfaceType, isObjectType, isUnionType, lexicographicSortSchema, parse } from 'graphql';
import type { Project, Table } from '@twofold/schema';
import { code, file, join, raw, runtimeType, type Code, local } from '../code.ts';
import { HEADER } from './header.ts';
import { renderDatabase, renderRows } from './rows.ts';
import { sorted } from './model.ts';
import { scalarTypes } from './scalar-types.ts';
import { type TypeNames, typeNamesOf, withTypeNames } from './type-names.ts';

/** What `types.ts` is made of besides the schema. */
export interface TypeParts {
  readonly project: Project;
  readonly tables: readonly Table[];
}

/**
 * `src/generated/types.ts`: graphql-codegen's types of the schema, the rows behind them, and what the user's files are
 * checked against.
 */
export async function renderTypes({ project, tables }: TypeParts): Promise<string> {
  const names = typeNamesOf(project.sdl);
  const document = withTypeNames(parse(project.sdl, { noLocation: true }), names);
  const schema = lexicographicSortSchema(buildASTSchema(document, { assumeValidSDL: true }));
  const generated = await runCodegen(schema, { project, names });
  return file(
    HEADER,
    join([code`
      ${renderContext()}

      ${renderOverrides(schema)}

      ${renderScalars()}

      ${renderDatabase(tables, project.ids)}

      ${renderRows(project, names)}
    `, generated], '\n\n'),
  );
}

function renderContext(): Code {
  const loadersOf = { text: 'LoadersOf', imports: [{ from: '@twofold/runtime', name: 'LoadersOf', as: 'LoadersOf', typeOnly: true }] };
  const table = { ...local('./loaders.ts', 'loaders'), imports: [{ from: './loaders.ts', name: 'loaders', as: 'loaders', typeOnly: true }] };
  return code`
    /** What a resolver gets as \`ctx\`. */
    export type Context = ${runtimeType('RequestContext')}<Database, ${loadersOf}<typeof ${table}>>;
  `;
}

/** One name for each type that may have resolvers of the user's: `satisfies types.UserOverrides`. */
function renderOverrides(schema: GraphQLSchema): Code {
  const types = Object.values(schema.getTypeMap()).filter((type) => !type.name.startsWith('__') && (isObjectType(type) || isInterfaceType(type) || isUnionType(type)));
  return join(
    sorted(types, (type) => type.name).map((type) => code`
      /** What a file of \`src/resolvers/\` may answer of this type. */
      export type ${type.name}Overrides = ${isObjectType(type) ? `${type.name}Resolvers` : `Partial<${type.name}Resolvers>`};
    `),
    '\n\n',
  );
}

function renderScalars(): Code {
  const mapping = { text: 'ScalarMapping', imports: [{ from: '@twofold/runtime', name: 'ScalarMapping', as: 'ScalarMapping', typeOnly: true }] };
  return code`
    /** What \`src/scalars.ts\` is checked against. */
    export type Scalars = Readonly<Record<string, ${mapping}>>;
  `;
}

async function runCodegen(schema: GraphQLSchema, { project, names }: { project: Project; names: TypeNames }): Promise<Code> {
  const [typescript, resolvers] = await Promise.all([import('@graphql-codegen/typescript'), import('@graphql-codegen/typescript-resolvers')]);
  const config = {
    enumsAsTypes: true,
    useTypeImports: true,
    skipTypename: true,
    makeResolverTypeCallable: true,
    contextType: 'Context',
    maybeValue: 'T | null',
    inputMaybeValue: 'T | null | undefined',
    defaultScalarType: 'unknown',
    namingConvention: 'keep',
    scalars: scalarTypes(project),
    mappers: Object.fromEntries(project.entities.map(({ name }) => [names(name), `${names(name)}Row`])),
  };
  const outputs = [await typescript.plugin(schema, [], config), await resolvers.plugin(schema, [], config)];
  const texts = outputs.map((output) => (typeof output === 'string' ? output : [...(output.prepend ?? []), output.content].join('\n')));
  return tidy(texts.join('\n'));
}

/** Imports from our one package and at the top, no second name for `Scalars`, one empty line between declarations. */
function tidy(text: string): Code {
  const imported = /^import type \{([^}]*)\} from 'graphql';$/m.exec(text)?.[1] ?? '';
  const names = imported.split(',').map((name) => name.trim()).filter(Boolean);
  const body = text
    .replace(/^import .*$/gm, '')
    .replace(/\bScalars(?=\[')/g, 'ScalarTypes')
    .replace('export type Scalars = ', 'export type ScalarTypes = ')
    .replace(/[ \t]+$/gm, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
  return { ...raw(body), imports: names.map((name) => ({ from: '@twofold/runtime', name, as: name, typeOnly: true })) };
}
