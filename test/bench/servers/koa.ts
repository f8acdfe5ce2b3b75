import {
  type DocumentNode,
  execute,
  parse,
  validate,
  type ExecutionResult,
  type GraphQLSchema,
} from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import Koa from 'koa';
import { peerSchema } from './peer-schema.ts';
import { openPeerSource, peerContext, type PeerContext } from './peer-source.ts';
import { listenOn, readJson, type Start } from './start.ts';

type Run = (
  query: string,
  context: PeerContext,
  variables: Record<string, unknown> | undefined,
) => ExecutionResult | Promise<ExecutionResult>;

/** Koa with nothing but a body reader and one way to run an operation. */
const serve =
  (engine: (schema: GraphQLSchema) => Run): Start =>
  async (databaseUrl) => {
    const source = openPeerSource(databaseUrl);
    const run = engine(peerSchema());
    const koa = new Koa();
    koa.use(async (ctx) => {
      const { query, variables } = await readJson(ctx.req);
      const result = await run(query, peerContext(source), variables);
      ctx.type = 'application/json; charset=utf-8';
      ctx.body = JSON.stringify(result);
    });
    return listenOn(koa.callback());
  };

export const uncached = serve((schema) => (query, contextValue, variableValues) => {
  const document = parse(query);
  const errors = validate(schema, document);
  return errors.length > 0
    ? { errors }
    : execute({ schema, document, contextValue, variableValues });
});

export const cached = serve((schema) => {
  const documents = new Map<string, DocumentNode>();
  const lookup = (query: string) => {
    const document = parse(query);
    if (validate(schema, document).length === 0) documents.set(query, document);
    return document;
  };
  return (query, contextValue, variableValues) =>
    execute({
      schema,
      document: documents.get(query) ?? lookup(query),
      contextValue,
      variableValues,
    });
});

export const compiled = serve((schema) => {
  const queries = new Map<string, Run>();
  const compile = (query: string): Run => {
    const document = parse(query);
    const errors = validate(schema, document);
    const made = compileQuery(schema, document);
    const run: Run =
      errors.length > 0 || !isCompiledQuery(made)
        ? () => ({ errors })
        : (_, context, variables) => made.query({}, context, variables ?? {}) as ExecutionResult;
    queries.set(query, run);
    return run;
  };
  return (query, context, variables) =>
    (queries.get(query) ?? compile(query))(query, context, variables);
});
