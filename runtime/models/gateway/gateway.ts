import { Readable } from 'node:stream';
import { AppError, failure } from '@twofold/runtime/errors';
import { type Call, type Reply, reply } from '@twofold/runtime/http';
import type { EngineResponse } from '../engine/engine.ts';
import type { Fields, Translated, Usage } from './dialect.ts';
import { Meter, readAnswer, readChunks, readText } from './engine-answer.ts';
import { assertCan } from './engine-limits.ts';
import {
  engineFailure,
  errorBody,
  modelCut,
  modelEnded,
  refusal,
  unknownModel,
} from './failures.ts';
import type { ModelAccess, ModelLease } from './model-access.ts';
import { readFields, toText } from './request-body.ts';
import { formOf, routeOf } from './routes.ts';

/** Answers the calls below `/api/mlx/v1`, in the dialect of each path. */
export interface Gateway {
  pass(call: Call): Promise<Reply>;
}

/** A request on its way to a model. */
interface Request {
  readonly call: Call;
  readonly translated: Translated;
}

export function createGateway(access: ModelAccess): Gateway {
  return {
    async pass(call) {
      const path = call.params['path'] ?? '';
      try {
        if (call.route.method === 'GET') return await showModels(access, path);
        return await answer(access, call, path);
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

async function showModels(access: ModelAccess, path: string): Promise<Reply> {
  const models = (await access.names()).map((id) => ({
    id,
    object: 'model',
    created: 0,
    owned_by: 'local',
  }));
  if (path === 'models') return reply(200, { object: 'list', data: models });
  const found = models.find(({ id }) => path === `models/${id}`);
  if (found) return reply(200, found);
  throw path.startsWith('models/')
    ? unknownModel(path.slice('models/'.length))
    : failure.notFound(`There is no GET /api/mlx/v1/${path.slice(0, 100)}`);
}

async function answer(access: ModelAccess, call: Call, path: string): Promise<Reply> {
  const route = routeOf(path);
  const { model, ...fields } = await readFields(call.koa.req);
  const translated = route.read(fields);
  const lease = await access.acquire(nameOf(model), call.context.signal);
  let handed = false;
  try {
    assertCan(lease.engine, translated);
    const request = { call, translated };
    if (route.counts) return await countTokens(request, lease);
    const response = await ask(request, lease);
    if (!translated.stream) return await whole(request, lease, response);
    const streamed = await stream(request, lease, response);
    handed = true;
    return streamed;
  } finally {
    // A stream gives the model back when it ends.
    if (!handed) lease.release();
  }
}

function nameOf(model: unknown): string {
  if (model === undefined || model === null || model === '') return 'default';
  if (typeof model === 'string') return model;
  throw refusal(400, 'model must be text', { param: 'model' });
}

async function ask(
  { call, translated }: Request,
  { endpoint }: ModelLease,
): Promise<EngineResponse> {
  const { path, body, stream: streams } = translated;
  const options = { ...(body['stream_options'] as object | undefined), include_usage: true };
  const response = await endpoint
    .ask({
      path,
      method: 'POST',
      body: toText({
        ...body,
        model: endpoint.model,
        ...(streams && { stream_options: options }),
      }),
      accept: streams ? 'text/event-stream' : 'application/json',
      signal: call.context.signal,
    })
    .catch((error: unknown) => {
      throw error instanceof AppError ? error : modelEnded(error);
    });
  if (response.status < 400) return response;
  throw engineFailure(response.status, await readText(response.body).catch(() => ''));
}

/** Headers of every answer: which model gave it. */
const headersOf = ({ id }: ModelLease) => ({ 'x-twofold-model': id });

async function whole(
  { translated }: Request,
  lease: ModelLease,
  response: EngineResponse,
): Promise<Reply> {
  const meter = new Meter(0);
  const body = await readAnswer(response.body);
  meter.answer(body);
  return reply(200, translated.whole(body, meter.used(), lease.id), headersOf(lease));
}

async function stream(
  { call, translated }: Request,
  lease: ModelLease,
  response: EngineResponse,
): Promise<Reply> {
  const meter = new Meter(0);
  const chunks = readChunks(response.body);
  // The status can still say what went wrong before the first chunk.
  const first = await chunks.next().catch((error: unknown) => {
    throw error instanceof AppError ? error : modelEnded(error);
  });
  const writer = translated.events(lease.id);
  async function* write(): AsyncGenerator<string> {
    try {
      for (let next = first; !next.done; next = await chunks.next()) {
        for (const chunk of next.value) meter.chunk(chunk);
        const text = next.value.map((chunk) => writer.chunk(chunk)).join('');
        if (text !== '') yield text;
      }
      yield writer.end(meter.used() satisfies Usage);
    } catch (error) {
      if (call.context.signal.aborted) throw error;
      yield writer.fail(error instanceof AppError ? error : modelCut(error));
    } finally {
      response.body.destroy();
      lease.release();
    }
  }
  return reply(200, Readable.from(write(), { objectMode: false }), {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    'x-accel-buffering': 'no',
    ...headersOf(lease),
  });
}

/** The tokens of a request, without an answer. */
async function countTokens({ call, translated }: Request, lease: ModelLease): Promise<Reply> {
  const { endpoint, engine } = lease;
  if (engine !== 'llamacpp') throw refusal(400, `The ${engine} engine cannot count tokens`);
  const response = await endpoint.ask({
    path: `count/${translated.path}`,
    method: 'POST',
    body: toText({ ...translated.body, model: endpoint.model }),
    accept: 'application/json',
    signal: call.context.signal,
  });
  const text = await readText(response.body);
  if (response.status >= 400) throw engineFailure(response.status, text);
  const { tokens } = JSON.parse(text) as { tokens: number } & Fields;
  return reply(200, { input_tokens: tokens }, headersOf(lease));
}
