import {
  buildSchema,
  execute,
  type ExecutionResult,
  getNullableType,
  type GraphQLEnumType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  isAbstractType,
  isEnumType,
  isInterfaceType,
  isListType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
  parse,
  print,
  validate,
  validateSchema,
  visit,
} from 'graphql';
import { createSettings } from '../../runtime/core/config/settings.ts';
import { createDocumentCache } from '../../runtime/core/graphql/document-cache.ts';
import type { Engine } from '../../runtime/core/graphql/engine.ts';
import { createEngine } from '../../runtime/core/graphql/create-engine.ts';
import { runOperation } from '../../runtime/core/graphql/run.ts';
import { projectOf } from './harness.ts';

/**
 * The public corpus jbellenger/graphql-conformance: 2,816 operations over 251 random schemas. Every
 * field has the value that follows from its type, so that an answer depends on the executor alone.
 */
export interface ConformanceCase {
  readonly schema: string;
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/**
 * Incremental delivery is no part of the specification yet, and `@defer` and `@stream` change when
 * an answer comes and not what it is: they are left out.
 */
export const withoutIncremental = (text: string): string =>
  print(
    visit(parse(text), {
      DirectiveDefinition: ({ name }) => (isIncremental(name.value) ? null : undefined),
      Directive: ({ name }) => (isIncremental(name.value) ? null : undefined),
    }),
  );

const isIncremental = (name: string) => name === 'defer' || name === 'stream';

const VALUES: Readonly<Record<string, unknown>> = {
  Int: 2,
  Float: 3.14,
  String: 'str',
  Boolean: true,
  ID: 'id',
};

/** The value of a type, as the corpus wants it. */
function valueOf(type: GraphQLOutputType, schema: GraphQLSchema): unknown {
  const named = getNullableType(type);
  if (isListType(named)) return [valueOf(named.ofType, schema), valueOf(named.ofType, schema)];
  if (isEnumType(named)) return (named as GraphQLEnumType).getValues()[0]?.value;
  if (isObjectType(named)) return {};
  if (!isAbstractType(named)) return VALUES[(named as { name: string }).name] ?? 'str';
  const members = schema
    .getPossibleTypes(named)
    .map(({ name }) => name)
    .sort();
  return { __typename: isInterfaceType(named) ? members.at(-1) : members[0] };
}

const resolve = (_: unknown, __: unknown, ___: unknown, info: GraphQLResolveInfo) =>
  valueOf(info.returnType, info.schema);

let latest: { readonly text: string; readonly schema: GraphQLSchema } | undefined;

/** Ten or more operations in a row are of one schema. */
export function builtOf(text: string): GraphQLSchema {
  if (latest?.text !== text) latest = { text, schema: buildSchema(text) };
  return latest.schema;
}

/** What graphql-js answers. */
export async function expected(asked: ConformanceCase): Promise<ExecutionResult> {
  const schema = builtOf(asked.schema);
  const document = parse(asked.query);
  const errors = [...validateSchema(schema), ...validate(schema, document)];
  if (errors.length > 0) return { errors };
  return execute({ schema, document, variableValues: asked.variables, fieldResolver: resolve });
}

const EMPTY = projectOf('type Query { empty: Int }', 'name: test\napi: { access: public }\n');

/** A server of the schema, in which a function answers every field. */
export function serve(text: string): (asked: ConformanceCase) => Promise<ExecutionResult> {
  const schema = builtOf(text);
  const types = Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__'));
  const resolvers = Object.fromEntries(
    types
      .filter(isObjectType)
      .map((type) => [
        type.name,
        Object.fromEntries(Object.keys(type.getFields()).map((name) => [name, resolve])),
      ]),
  );
  const scalars = Object.fromEntries(
    types
      .filter((type) => isScalarType(type) && !isSpecifiedScalarType(type))
      .map(({ name }) => [name, { serialize: echo, parseValue: echo }]),
  );
  const kernel: any = {
    project: { ...EMPTY, sdl: text },
    settings: createSettings({}),
    store: { dialect: 'sqlite' },
    now: Date.now,
    root: '/',
  };
  const engine = createEngine(kernel, resolvers as never, scalars as never);
  const documents = createDocumentCache({
    schema: engine.schema,
    limits: UNLIMITED as never,
    introspection: true,
    suggestions: true,
  });
  return (asked) => answer(engine, documents, asked);
}

const echo = (value: unknown) => value;

const UNLIMITED = new Proxy({}, { get: () => Number.MAX_SAFE_INTEGER });

async function answer(
  engine: Engine,
  documents: ReturnType<typeof createDocumentCache>,
  { query, variables }: ConformanceCase,
): Promise<ExecutionResult> {
  const { prepared, errors } = documents.get(query) as any;
  if (!prepared) return { errors };
  const context: any = { principal: { kind: 'anonymous' }, cancelled: false, signal: undefined };
  const done = await runOperation(engine, {
    operation: prepared.operations[0],
    variables,
    context,
  });
  return 'text' in done ? JSON.parse(String(done.text)) : (done.result as ExecutionResult);
}

/** Data to the letter, members in their order, and the places of errors. */
export const comparable = ({ data, errors }: ExecutionResult) =>
  JSON.stringify({
    data: data ?? null,
    errors: errors?.map(({ path }) => path?.join('.') ?? '').sort() ?? [],
  });
