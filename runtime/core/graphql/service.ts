import { type ExecutionResult, GraphQLError } from 'graphql';
import type { Api } from '@twofold/schema';
import { AppError } from '../errors.ts';
import { LimitReached } from '../store/bounds.ts';
import { hasMoreBytes, type JsonText } from '../store/large-text.ts';
import type { RequestContext } from '../context/request-context.ts';
import type { DocumentCache, Lookup, PreparedOperation } from './document-cache.ts';
import type { Engine } from './engine.ts';
import { formatError, rootCause, toGraphqlError } from './errors.ts';
import { checkCost } from './cost.ts';
import { limitError } from './limits.ts';
import type { Parameters } from './parameters.ts';
import { runOperation } from './run.ts';
import type { Answer } from './operation-run.ts';
import { TIMEOUT, timeoutError, withTimeLimit } from './time-limit.ts';
import type { DocumentSource } from './trusted-documents.ts';

/** The answer as JSON text. `refused`: the request was not run, which decides the status. */
export interface Response {
  readonly text: JsonText;
  readonly refused: false | 'request' | 'limit';
}

/** All steps from parameters to JSON text, independent of the transport. */
export interface Service {
  readonly engine: Engine;
  readonly api: Api;
  readonly documents: DocumentCache;
  readonly source: DocumentSource;
}

/**
 * Finds the operation that a request names. @throws GraphQLError or a list of them as
 * `RequestErrors`, AppError
 */
export function findOperation(
  { documents, source }: Service,
  parameters: Parameters,
): PreparedOperation {
  const lookup: Lookup = documents.get(source.textOf(parameters));
  if (lookup.errors) throw new RequestErrors(lookup.errors);
  const { operations } = lookup.prepared;
  const { operationName } = parameters;
  if (operationName === undefined && operations.length > 1)
    throw badOperation('the document has several operations: operationName must say which');
  const operation =
    operationName === undefined
      ? operations[0]
      : operations.find(({ node }) => node.name?.value === operationName);
  return (
    operation ??
    fail(
      badOperation(
        operationName === undefined
          ? 'the document has no operation'
          : `the document has no operation ${JSON.stringify(operationName)}`,
      ),
    )
  );
}

/** Errors of a request that was not run. */
export class RequestErrors extends Error {
  readonly errors: readonly GraphQLError[];

  constructor(errors: readonly GraphQLError[]) {
    super('request errors');
    this.errors = errors;
  }
}

const badOperation = (message: string) =>
  new GraphQLError(message, { extensions: { code: 'OPERATION_RESOLUTION_FAILURE' } });

function fail(error: Error): never {
  throw error;
}

/** Runs a query or a mutation within the time limit. */
export function respond(
  service: Service,
  operation: PreparedOperation,
  parameters: Parameters,
  context: RequestContext,
): Response | Promise<Response> {
  const { engine } = service;
  const over = checkCost(engine, operation, parameters.variables);
  if (over) return refuse([over], context);
  const answer = runOperation(engine, { operation, variables: parameters.variables, context });
  const finish = (done: Answer | typeof TIMEOUT) => toResponse(service, operation, done, context);
  return answer instanceof Promise
    ? withTimeLimit(engine, answer, context).then(finish)
    : finish(answer);
}

/** The same as text, for a transport that drops it as soon as it is sent. */
export async function respondOnce(
  service: Service,
  operation: PreparedOperation,
  parameters: Parameters,
  context: RequestContext,
): Promise<string> {
  try {
    return String((await respond(service, operation, parameters, context)).text);
  } catch (error) {
    if (!(error instanceof LimitReached)) throw error;
    return String(refuse(errorsOf(error), context).text);
  } finally {
    service.engine.store.memory.end(context);
  }
}

function toResponse(
  service: Service,
  { node }: PreparedOperation,
  answer: Answer | typeof TIMEOUT,
  context: RequestContext,
): Response {
  const { api } = service;
  if (answer === TIMEOUT) return refuse([timeoutError(api.limits.time)], context);
  if ('text' in answer) return sized(answer.text, service, context);
  // The client disconnected and ended the operation: it has not failed, and its answer is not read.
  if (context.cancelled) return UNHEARD;
  const { errors, data } = answer.result;
  const reached = limitReached(answer.result, node.operation === 'mutation');
  if (reached?.status === 400) return refuse([toGraphqlError(reached)], context);
  if (reached) throw reached;
  if (data === undefined) return refuse(errors ?? [], context);
  const formatted = errors?.map((error) =>
    formatError(error, { requestId: context.id, log: context.log }),
  );
  return sized(JSON.stringify({ ...(formatted && { errors: formatted }), data }), service, context);
}

const UNHEARD: Response = {
  text: '{"errors":[{"message":"the client went away"}]}',
  refused: 'request',
};

/** The limit that an answer exceeded. When some mutations are done, the answer must say which. */
function limitReached(
  { errors = [], data }: ExecutionResult,
  mutation: boolean,
): LimitReached | undefined {
  if (mutation && Object.values(data ?? {}).some((value) => value !== null)) return undefined;
  const causes = errors.map(rootCause);
  return causes.find((cause) => cause instanceof LimitReached);
}

function sized(text: JsonText, { api: { limits } }: Service, context: RequestContext): Response {
  if (!hasMoreBytes(text, limits.result)) return { text, refused: false };
  return refuse(
    [
      limitError('RESULT_TOO_LARGE', `the result has more than ${limits.result} bytes`, {
        value: typeof text === 'string' ? Buffer.byteLength(text) : text.bytes,
        limit: limits.result,
      }),
    ],
    context,
  );
}

/** The answer to a request that was not run. */
export function refuse(errors: readonly GraphQLError[], { id, log }: RequestContext): Response {
  const formatted = errors.map((error) => formatError(error, { requestId: id, log }));
  const limit = errors.some(({ extensions }) => extensions['limit'] !== undefined);
  return { text: JSON.stringify({ errors: formatted }), refused: limit ? 'limit' : 'request' };
}

/** The errors in a value that was thrown before the operation ran. */
export function errorsOf(thrown: unknown): readonly GraphQLError[] {
  return thrown instanceof RequestErrors ? thrown.errors : [toGraphqlError(thrown)];
}

/** The status of a request that was not run. */
export function statusOf(thrown: unknown): number | undefined {
  return thrown instanceof AppError ? thrown.status : undefined;
}
