import type { Project, Table } from '@twofold/schema';
import { parse } from 'graphql';
import { templatesOf } from '../capabilities.ts';
import { code, file, join, local, raw, runtimeType, HEADER, type Code } from '../code.ts';
import { camelCase, propertyName } from '../literal.ts';
import { rootNames, JOB_NAMES, typeNamesOf } from './type-names.ts';
import { renderHooks } from './hook-types.ts';
import { renderData } from './data-types.ts';
import { renderDatabase, renderRows } from './rows.ts';
import { scalarTypes } from './scalar-types.ts';
import { readDefinitions, type Definition, type Definitions } from './types/definitions.ts';
import { printNamedTypes } from './types/named-types.ts';
import { printPublished } from './types/published.ts';
import { printSchemaTable } from './types/schema-table.ts';
import { printScalars } from './types/scalars.ts';

/** The parts that `types.ts` is rendered from. */
export interface TypeParts {
  readonly project: Project;
  readonly tables: readonly Table[];
  /** Names of the files in `src/jobs/`, without `.ts`. */
  readonly jobs: readonly string[];
  /** Names of the files in `src/resolvers/`, without `.ts`. */
  readonly resolverTypes?: readonly string[];
  /** The types of the schema and of its resolvers, if plugins of graphql-codegen printed them. */
  readonly printed?: string | undefined;
}

/** The line above the text of plugins. */
export const PRINTED_LINE =
  '// The plugins under `codegen:` in manifest.yaml printed what follows.\n\n';

/**
 * `src/generated/types.ts`: the types of the schema and of its resolvers, with the names and layout
 * of graphql-codegen (a test compares), the row types, and the types that the user's files are
 * checked with.
 */
export function renderTypes(given: TypeParts): string {
  const { project, tables, jobs, printed } = given;
  const names = typeNamesOf(project.sdl, jobs.length > 0 ? JOB_NAMES : []);
  const definitions = readDefinitions(parse(project.sdl, { noLocation: true }), names);
  const rows = new Map(project.entities.map(({ name }) => [names(name), `${names(name)}Row`]));
  const roots = rootNames(project);
  const unnamed = new Set(unnamedTypes(given).map(names));
  const parts = [
    renderContext(project, jobs),
    renderJobs(jobs),
    renderRoutes(definitions, printed !== undefined),
    printOverrides(
      definitions.types.filter(({ name }) => !unnamed.has(name)),
      definitions.names(roots.mutation),
    ),
    renderScalars(),
    raw(printPublished(definitions, { roots, rows })),
    ...templatesOf(project).flatMap((template) => template.types?.(project) ?? []),
    renderDatabase(tables, project, names),
    renderRows(project, names),
    renderData(project, names),
    renderHooks(project, names),
  ];
  if (printed !== undefined)
    return `${file(HEADER, join(parts, '\n\n'))}\n${PRINTED_LINE}${printed}`;
  const schema = { definitions, roots, rows, unnamed };
  const own = [
    raw(printScalars(definitions, scalarTypes(project))),
    importing('@twofold/schema', { name: 'schemaTypes', as: '$' }, printSchemaTable(schema)),
    ...printNamedTypes(schema).map((text) =>
      text.includes(CONFIG)
        ? importing('@twofold/runtime', { name: CONFIG, as: CONFIG }, text)
        : raw(text),
    ),
  ];
  return file(HEADER, join([...parts, ...own], '\n\n'));
}

const CONFIG = 'GraphQLScalarTypeConfig';

/**
 * What `api.crud` writes to answer lists and figures: `PostConnection`, `PostSums`. Hardly anybody
 * writes resolvers of these, so they get names for them with the first file.
 */
function unnamedTypes({ project, resolverTypes = [], printed }: TypeParts): string[] {
  if (project.crudSdl === undefined || printed !== undefined) return [];
  const named = new Set([...Object.values(rootNames(project)), ...resolverTypes]);
  return Array.from(project.crudSdl.matchAll(/^type (\w+) /gm), ([, name = '']) => name).filter(
    (name) => !named.has(name),
  );
}

/** A text that uses one type of a package. */
const importing = (
  from: string,
  { name, as }: { readonly name: string; readonly as: string },
  text: string,
): Code => ({ text, imports: [{ from, name, as, typeOnly: true }] });

/** The data of each job comes from its file: `satisfies types.Job<Data>`. */
function renderJobs(jobs: readonly string[]): Code | null {
  if (jobs.length === 0) return null;
  const files = jobs.map((name) => {
    const as = `${camelCase(name, 'job')}Job`;
    const job = {
      text: as,
      imports: [{ from: `../jobs/${name}.ts`, name: 'default', as, typeOnly: true }],
    };
    return code`${propertyName(name)}: typeof ${job};`;
  });
  return code`
    /** The type of a file in \`src/jobs/\`, with the data that it gets. */
    export type Job<Data = unknown> = ${runtimeType('JobOf')}<Context, Data>;

    /** The data of each job. */
    export type JobData = ${runtimeType('JobsOf')}<{
      ${join(files)}
    }>;
  `;
}

function renderContext(project: Project, jobs: readonly string[]): Code {
  const members = templatesOf(project).flatMap((template) => template.context?.(project) ?? []);
  const publishes = project.operations.some(({ root }) => root === 'subscription');
  // Type parameters have an order: to give the last one, all earlier ones must be given:
  // `ctx.auth`, events, jobs.
  const events = publishes ? raw('Published') : jobs.length > 0 && raw('unknown');
  const sends = jobs.length > 0 && code`${runtimeType('JobsApi')}<JobData>`;
  const parameters = [
    events || sends ? (members[0] ?? raw('unknown')) : members[0],
    events,
    sends,
  ].filter((each) => each !== undefined && each !== false);
  const added = join(
    parameters.map((each) => code`, ${each}`),
    '',
  );
  const loadersOf = {
    text: 'LoadersOf',
    imports: [{ from: '@twofold/runtime', name: 'LoadersOf', as: 'LoadersOf', typeOnly: true }],
  };
  const table = {
    ...local('./loaders.ts', 'loaders'),
    imports: [{ from: './loaders.ts', name: 'loaders', as: 'loaders', typeOnly: true }],
  };
  return code`
    /** What a resolver gets as \`ctx\`. */
    export type Context = ${runtimeType('RequestContext')}<Database, ${loadersOf}<typeof ${table}>, Data${added}>;
  `;
}

/** The input types of the schema by name, for routes. */
function renderRoutes({ types }: Definitions, isPrinted: boolean): Code {
  const inputs = types.filter(({ kind }) => kind === 'input').map(({ name }) => `\n  | '${name}'`);
  const picked = inputs.length === 0 ? 'object' : `Pick<\n  ResolversTypes,${inputs.join('')}\n>`;
  return code`
    /** The type of the function in \`src/routes.ts\`. */
    export type Routes = ${runtimeType('RoutesOf')}<Context, ${isPrinted ? picked : '$.InputTypes<$Schema>'}>;

    /** The type of a function in \`src/middleware.ts\`. */
    export type Middleware = ${runtimeType('MiddlewareOf')}<Context>;
  `;
}

/** One name for each type that users may write resolvers for: `satisfies types.UserOverrides`. */
function printOverrides(types: readonly Definition[], mutation: string): Code {
  const overridable = types.filter(({ kind }) => ['object', 'interface', 'union'].includes(kind));
  const lines = overridable.map(({ kind, name }) => {
    const resolvers = kind === 'object' ? `${name}Resolvers` : `Partial<${name}Resolvers>`;
    const type = name === mutation ? code`${runtimeType('MutationsOf')}<${resolvers}>` : resolvers;
    return code`export type ${name}Overrides = ${type};`;
  });
  return code`
    // What the files of \`src/resolvers/\` may implement of each type.
    ${lines}
  `;
}

function renderScalars(): Code {
  const mapping = {
    text: 'ScalarMapping',
    imports: [
      { from: '@twofold/runtime', name: 'ScalarMapping', as: 'ScalarMapping', typeOnly: true },
    ],
  };
  return code`
    /** The type of the table in \`src/scalars.ts\`. */
    export type Scalars = Readonly<Record<string, ${mapping}>>;
  `;
}
