import { AppError, failure } from '@twofold/runtime/errors';
import { type Call, type Reply, reply } from '@twofold/runtime/http';
import type { Caller } from './admission.ts';
import { attempt, type AttemptParts, countTokens } from './attempt.ts';
import { errorBody, malformed, unknownModel, type ErrorForm } from './failures.ts';
import type { ModelAccess } from './model-access.ts';
import { readFields } from './request-body.ts';
import type { Fields, Translated } from './dialect.ts';
import { readMessages, translate } from './messages/read-messages.ts';
import { readCompletion, readVectors } from './openai-dialect.ts';
import { readResponse } from './responses/read-responses.ts';

/** Answers the calls below `/api/mlx/v1`, in the dialect of each path. */
export interface Gateway {
  pass(call: Call): Promise<Reply>;
}

export interface GatewayParts extends AttemptParts {
  readonly access: ModelAccess;
}

export function createGateway(parts: GatewayParts): Gateway {
  return {
    async pass(call) {
      const path = call.params['path'] ?? '';
      try {
        const caller = await parts.admission.callerOf(call.context);
        if (call.route.method === 'GET') return await showModels(parts, caller, path);
        return await answer(parts, { call, caller, path });
      } catch (error) {
        return toReply(error, call, path);
      }
    },
  };
}

/** An error in the form of the path's dialect. Those of sign-in and of rights are ours. */
function toReply(error: unknown, { context }: Call, path: string): Reply {
  const known = error instanceof AppError;
  if (known && (error.status === 401 || error.status === 403)) throw error;
  if (!known && !context.signal.aborted)
    context.log.error({ stack: (error as Error).stack }, 'a request to a model failed');
  const shown = known ? error : new AppError(500, 'INTERNAL_SERVER_ERROR', 'Internal server error');
  return reply(shown.status, errorBody(formOf(path), shown), shown.headers);
}

async function showModels({ access }: GatewayParts, caller: Caller, path: string): Promise<Reply> {
  const names = await access.names();
  const models = names
    .filter(({ name, id }) => caller.may(name, id))
    .map(({ name }) => ({ id: name, object: 'model', created: 0, owned_by: 'local' }));
  if (path === 'models') return reply(200, { object: 'list', data: models });
  const found = models.find(({ id }) => path === `models/${id}`);
  if (found) return reply(200, found);
  throw path.startsWith('models/')
    ? unknownModel(path.slice('models/'.length))
    : failure.notFound(`There is no GET /api/mlx/v1/${path.slice(0, 100)}`);
}

interface GatewayCall {
  readonly call: Call;
  readonly caller: Caller;
  readonly path: string;
}

/** Asks the model, and its fallbacks as long as nothing was answered. */
async function answer(parts: GatewayParts, { call, caller, path }: GatewayCall): Promise<Reply> {
  const begun = performance.now();
  const route = routeOf(path);
  const { model, ...fields } = await readFields(call.koa.req);
  const name = nameOf(model);
  const allowed = allowedModels(parts, caller, name);
  const translated = route.read(fields);
  for (const [index, id] of allowed.entries()) {
    try {
      const lease = await parts.access.acquire(id, call.context.signal);
      const given = { call, caller, translated, lease, begun };
      return await (route.counts ? countTokens(given) : attempt(parts, given));
    } catch (error) {
      const isLast = index === allowed.length - 1;
      if (isLast || call.context.signal.aborted || !mayOtherAnswer(error)) throw error;
    }
  }
  throw unknownModel(name);
}

/**
 * The ids of the model that was asked for and of its fallbacks. The key has to name each of them: a
 * fallback must not open a model that its key cannot ask for, nor stand in for one that it may not.
 *
 * @throws AppError 403
 */
function allowedModels({ access }: GatewayParts, caller: Caller, name: string): readonly string[] {
  const [asked, ...fallbacks] = access.candidates(name);
  if (!caller.may(asked.name, asked.id))
    throw failure.forbidden(`This key may not use ${name.slice(0, 200)}`);
  const held = fallbacks.filter((other) => caller.may(other.name, other.id));
  return [asked, ...held].map(({ id }) => id);
}

/** Whether the model failed, and not the request. */
const mayOtherAnswer = (error: unknown) =>
  !(error instanceof AppError) ||
  error.status >= 500 ||
  (error.status === 429 && error.code !== 'RATE_LIMITED');

function nameOf(model: unknown): string {
  if (model === undefined || model === null || model === '') return 'default';
  if (typeof model === 'string') return model;
  throw malformed('model', 'must be text');
}

/** One path below `/api/mlx/v1`. */
interface GatewayRoute {
  readonly form: ErrorForm;
  /** Whether only the tokens of the request are asked for. */
  readonly counts?: boolean;
  read(fields: Fields): Translated;
}

const ROUTES: Readonly<Record<string, GatewayRoute>> = {
  'chat/completions': {
    form: 'openai',
    read: (fields) => readCompletion('chat/completions', fields),
  },
  completions: { form: 'openai', read: (fields) => readCompletion('completions', fields) },
  responses: { form: 'openai', read: readResponse },
  embeddings: { form: 'openai', read: (fields) => readVectors('embeddings', fields) },
  rerank: { form: 'openai', read: (fields) => readVectors('rerank', fields) },
  messages: { form: 'anthropic', read: readMessages },
  'messages/count_tokens': { form: 'anthropic', counts: true, read: translate },
};

/** The form of errors on a path, also where there is no such route. */
const formOf = (path: string): ErrorForm => (path.startsWith('messages') ? 'anthropic' : 'openai');

/** @throws AppError 404 */
function routeOf(path: string): GatewayRoute {
  const route = Object.hasOwn(ROUTES, path) ? ROUTES[path] : undefined;
  if (route) return route;
  throw failure.notFound(`There is no /api/mlx/v1/${path.slice(0, 100)}`);
}
