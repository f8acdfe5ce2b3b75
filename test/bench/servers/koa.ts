import {
  type DocumentNode,
  execute,
  parse,
  validate,
  type ExecutionResult,
  type GraphQLSchema,
} from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import cors from '@koa/cors';
import Koa, { type Middleware } from 'koa';
import { HEADER, HEADER_VALUE, ORIGIN } from '../shape.ts';
import { peerSchema } from './peer-schema.ts';
import { openPeerDatabase, peerContext, type PeerContext } from './peer-source.ts';
import { createSignIn, type SignIn } from './sign-in.ts';
import { listenOn, readJson, REFUSAL, type Start } from './start.ts';

type Run = (
  query: string,
  context: PeerContext,
  variables: Record<string, unknown> | undefined,
) => ExecutionResult | Promise<ExecutionResult>;

/** Everything that stands before GraphQL as users run it. */
const middlewareAsRun = (signIn: SignIn): readonly Middleware[] => [
  cors({ origin: ORIGIN, credentials: true }),
  async (ctx, next) => {
    ctx.state['caller'] = await signIn(ctx.req.headers.authorization);
    if (ctx.state['caller'] !== null) return next();
    ctx.status = 401;
    ctx.body = REFUSAL;
  },
  async (ctx, next) => {
    ctx.set(HEADER, HEADER_VALUE);
    await next();
  },
];

/**
 * Koa with a body reader and one way to run an operation, and as users run it with what stands before.
 *
 * @param looksUp false: the signature of a token is checked, and its session is not looked up.
 */
const serve =
  (engine: (schema: GraphQLSchema) => Run, looksUp = true): Start =>
  async (databaseUrl, shape) => {
    const { source, lookup } = openPeerDatabase(databaseUrl, shape);
    const run = engine(peerSchema());
    const koa = new Koa();
    if (shape === 'asRun')
      for (const layer of middlewareAsRun(createSignIn(looksUp ? lookup : undefined)))
        koa.use(layer);
    koa.use(async (ctx) => {
      const { query, variables } = await readJson(ctx.req);
      const result = await run(query, peerContext(source, ctx.state['caller']), variables);
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

const compiling = (schema: GraphQLSchema): Run => {
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
};

export const compiled = serve(compiling);
export const compiledTokenOnly = serve(compiling, false);
