import { type ExecutionResult, GraphQLError } from 'graphql';
import type { Api } from '@twofold/schema';
import { LimitReached } from '../store/bounds.ts';
import { DatabaseLost } from '../store/unreachable.ts';
import type { RequestContext } from '../context/request-context.ts';
import type { DocumentCache, Lookup, PreparedOperation } from './document-cache.ts';
import type { Engine } from './engine.ts';
import { rootCause, toGraphqlError } from './errors.ts';
import type { Parameters } from './parameters.ts';
import {
  errorsOf,
  refuse,
  RequestErrors,
  type Response,
  shownAnswer,
  tooLarge,
} from './response.ts';
import { run } from './run.ts';
import type { Answer, Cut } from './operation-run.ts';
import type { Over } from './time-limit.ts';
import type { DocumentSource } from './trusted-documents.ts';

/** All steps from parameters to JSON text, independent of the transport. */
export interface Service {
  readonly engine: Engine;
  readonly api: Api;
  readonly documents: DocumentCache;
  readonly source: DocumentSource;
  /** Functions around each query and mutation; absent when no plugin or observer has one. */
  readonly around?: Around;
  /** The function that each answer and each refusal passes last; absent when nobody needs it. */
  readonly leave?: Leave;
  /** Functions for each subscription; absent when no plugin or observer has one. */
  readonly accompany?: StartCompanion;
}

/** An operation of a client. */
export interface OperationCall {
  readonly operation: PreparedOperation;
  readonly parameters: Parameters;
  readonly context: RequestContext;
}

export type Around = (
  call: OperationCall,
  run: () => Response | Promise<Response>,
) => Response | Promise<Response>;

export type Leave = (response: Response, context: RequestContext) => Response | Promise<Response>;

/** The protocol that sends the events of a subscription. */
export type Transport = 'websocket' | 'event_stream';

/** Called for a subscription with its first context. */
export type StartCompanion = (call: OperationCall, transport: Transport) => Promise<Companion>;

export interface Companion {
  /** Returns the response to one event; undefined when nothing is sent. */
  event(
    answer: () => Promise<Response | undefined>,
    context: RequestContext,
  ): Promise<Response | undefined>;
  /** Called when the subscription has ended. */
  end?(): void;
}

/**
 * Finds the operation that a request names. It is a promise only when a plugin looks at the parsing
 * of a new document. @throws GraphQLError or a list of them as `RequestErrors`, AppError
 */
export function findOperation(
  { documents, source }: Pick<Service, 'documents' | 'source'>,
  parameters: Parameters,
  context: RequestContext,
): PreparedOperation | Promise<PreparedOperation> {
  const lookup = documents.get(source.textOf(parameters), context);
  return lookup instanceof Promise
    ? lookup.then((found) => namedOperation(found, parameters))
    : namedOperation(lookup, parameters);
}

function namedOperation(lookup: Lookup, parameters: Parameters): PreparedOperation {
  if (lookup.errors) throw new RequestErrors(lookup.errors);
  const { operations } = lookup.prepared;
  const { operationName } = parameters;
  if (operationName === undefined && operations.length > 1)
    throw badOperation('the document has several operations: operationName must say which');
  const operation =
    operationName === undefined
      ? operations[0]
      : operations.find(({ node }) => node.name?.value === operationName);
  if (operation) return operation;
  const name = operationName === undefined ? '' : ` ${JSON.stringify(operationName)}`;
  throw badOperation(`the document has no operation${name}`);
}

const badOperation = (message: string) =>
  new GraphQLError(message, { extensions: { code: 'OPERATION_RESOLUTION_FAILURE' } });

/** Runs a query or a mutation within the time limit. */
export function respond(service: Service, call: OperationCall): Response | Promise<Response> {
  const { around, leave } = service;
  const { context } = call;
  const response = around
    ? around(call, () => answerCall(service, call))
    : answerCall(service, call);
  if (!leave) return response;
  return response instanceof Promise
    ? response.then((done) => leave(done, context))
    : leave(response, context);
}

/** The answer to a request that failed before its operation ran. */
export function leaveRefused(
  { leave }: Service,
  thrown: unknown,
  context: RequestContext,
): Response | Promise<Response> {
  const refused = refuse(errorsOf(thrown), context);
  return leave ? leave(refused, context) : refused;
}

function answerCall(service: Service, call: OperationCall): Response | Promise<Response> {
  const { operation, parameters, context } = call;
  const cuts: Cut[] = [];
  const { variables } = parameters;
  const answer = run(service.engine, { operation, variables, context, cuts });
  return answer instanceof Promise
    ? answer.then((done) => toResponse(service, call, done, cuts))
    : toResponse(service, call, answer, cuts);
}

/** Like `respond`, as the only text of a transport that drops a text when it is sent. */
export async function* respondOnce(
  service: Service,
  call: OperationCall,
): AsyncIterableIterator<string> {
  yield await textOf(service, call);
}

async function textOf(service: Service, call: OperationCall): Promise<string> {
  const { context } = call;
  try {
    return String((await respond(service, call)).text);
  } catch (error) {
    if (!(error instanceof LimitReached)) throw error;
    return String((await leaveRefused(service, error, context)).text);
  } finally {
    service.engine.store.memory.end(context);
  }
}

function toResponse(
  { api }: Service,
  { operation, context }: OperationCall,
  answer: Answer | Over,
  cuts: readonly Cut[],
): Response {
  if ('over' in answer) return refuse([answer.over], context);
  if ('result' in answer) {
    // The client disconnected and ended the operation: it has not failed, and its answer is not read.
    if (context.cancelled) return UNHEARD;
    const { errors = [], data } = answer.result;
    const reached = limitReached(answer.result, operation.node.operation === 'mutation');
    if (reached?.status === 400) return refuse([toGraphqlError(reached)], context);
    if (reached) throw reached;
    const lost = databaseLost(answer.result, operation.node.operation === 'mutation');
    if (lost) throw lost;
    if (data === undefined) return refuse(errors, context);
  }
  const response = shownAnswer(answer, cuts, context);
  const over = tooLarge(response, api.limits);
  return over ? refuse([over], context) : response;
}

const UNHEARD: Response = {
  text: '{"errors":[{"message":"the client went away"}]}',
  refused: 'request',
};

/**
 * The limit that an answer exceeded. If some mutations were done, it is undefined, because the
 * answer must say which.
 */
function limitReached(result: ExecutionResult, mutation: boolean): LimitReached | undefined {
  if (mutation && isPartlyDone(result)) return undefined;
  const causes = (result.errors ?? []).map(rootCause);
  return causes.find((cause) => cause instanceof LimitReached);
}

const isPartlyDone = ({ data }: ExecutionResult) =>
  Object.values(data ?? {}).some((value) => value !== null);

/** The loss that ended an operation. What fails below a mutation says nothing of the mutation. */
function databaseLost(result: ExecutionResult, mutation: boolean): DatabaseLost | undefined {
  if (mutation && isPartlyDone(result)) return undefined;
  for (const error of result.errors ?? []) {
    const cause = rootCause(error);
    if (!(cause instanceof DatabaseLost)) continue;
    if (!mutation) return cause;
    return cause.said((error.path?.length === 1 && cause.outcome) || 'unknown');
  }
  return undefined;
}
