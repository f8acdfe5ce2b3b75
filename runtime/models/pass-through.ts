import type { IncomingMessage } from 'node:http';
import { Transform } from 'node:stream';
import { AppError, failure } from '@twofold/runtime/errors';
import { type Call, type Reply, reply, bytesOf } from '@twofold/runtime/http';
import type { Endpoint } from './engine/engine.ts';
import type { RunState } from './supervisor.ts';

/** Passes OpenAI calls to the running model, and streams its answers back. */
export interface PassThrough {
  pass(call: Call): Promise<Reply>;
}

const MAX_BODY_BYTES = 32 * 1024 * 1024;
/** Path segments of the OpenAI API. None begins with a dot, so the path stays below `/v1`. */
const API_PATH = /^(?!.*(?:^|\/)\.)[A-Za-z0-9_.:-]+(?:\/[A-Za-z0-9_.:-]+)*$/;
const PASSED_HEADERS = ['content-type', 'cache-control', 'retry-after', 'openai-processing-ms'];

export function createPassThrough(now: () => RunState, attached: () => boolean): PassThrough {
  return {
    async pass(call) {
      const path = call.params['path'] ?? '';
      if (!API_PATH.test(path)) throw failure.notFound();
      const { state, model, endpoint } = now();
      if (!attached() && call.route.method === 'GET')
        return ownModels(path, model && state === 'running' ? model.id : null);
      if (state === 'restarting' || state === 'starting')
        throw failure.unavailable('The model is being started', {
          headers: { 'Retry-After': '2' },
        });
      if (!model || !endpoint)
        throw failure.unavailable('No model is running: POST /api/mlx/start');
      const body =
        call.route.method === 'GET'
          ? null
          : toBody(await readJson(call.koa.req), { id: model.id, endpoint, any: attached() });
      return send(call, { path, id: model.id, endpoint, body });
    },
  };
}

/**
 * The list of models for a client. The engine's own list is not used, because it names files or
 * models that it could download.
 */
function ownModels(path: string, running: string | null): Reply {
  const all =
    running === null ? [] : [{ id: running, object: 'model', created: 0, owned_by: 'local' }];
  if (path === 'models') return reply(200, { object: 'list', data: all });
  const found = path.startsWith('models/')
    ? all.find(({ id }) => id === path.slice('models/'.length))
    : undefined;
  if (!found) throw failure.notFound();
  return reply(200, found);
}

/**
 * Reads the body and checks its `model`. With `any` every name is accepted, because an attached
 * server has further models.
 */
function toBody(
  value: unknown,
  {
    id,
    endpoint,
    any,
  }: { readonly id: string; readonly endpoint: Endpoint; readonly any: boolean },
): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw failure.badRequest('The body must be a JSON object');
  const { model } = value as { model?: unknown };
  const named =
    model === undefined || model === null || model === '' || model === 'default' ? id : model;
  if (any) return toText({ ...value, model: named });
  if (named !== id)
    throw new AppError(
      404,
      'NOT_FOUND',
      `The model ${String(named).slice(0, 200)} is not running: ${id} is`,
    );
  return toText({ ...value, model: endpoint.model });
}

function toText(body: object): string {
  try {
    return JSON.stringify(body);
  } catch {
    throw failure.badRequest('The body is nested too deeply');
  }
}

async function readJson(source: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of bytesOf(source)) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw failure.tooLarge();
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    throw failure.badRequest('Invalid JSON');
  }
}

interface EngineCall {
  readonly path: string;
  readonly id: string;
  readonly endpoint: Endpoint;
  readonly body: string | null;
}

async function send(
  { context, koa }: Call,
  { path, id, endpoint, body }: EngineCall,
): Promise<Reply> {
  const request = {
    path,
    body,
    method: body === null ? 'GET' : 'POST',
    accept: String(context.headers['accept'] ?? '*/*'),
    signal: context.signal,
  } as const;
  const answer = await endpoint.ask(request).catch((error: unknown) => {
    throw new AppError(502, 'MODEL_FAILED', 'The model ended before it answered', { cause: error });
  });
  const headers = Object.fromEntries(
    PASSED_HEADERS.flatMap((name) =>
      answer.headers[name] === undefined ? [] : [[name, answer.headers[name]]],
    ),
  );
  const events = headers['content-type']?.startsWith('text/event-stream') ?? false;
  answer.body.on('error', () => endAnswer(koa, events));
  const named =
    endpoint.model === id ? answer.body : answer.body.pipe(renameModel(endpoint.model, id));
  return reply(answer.status, named, { ...headers, ...(events && { 'X-Accel-Buffering': 'no' }) });
}

/** Ends the answer of a model that has ended, with an error event or by closing the connection. */
function endAnswer({ res }: Call['koa'], events: boolean): void {
  if (!events || !res.headersSent || res.writableEnded) return void res.destroy();
  res.end(
    `data: ${JSON.stringify({ error: { message: 'The model ended before its answer was complete', type: 'server_error', param: null, code: null } })}\n\n`,
  );
}

/** Replaces the engine's name of the model by the id that the caller uses. */
function renameModel(from: string, to: string): Transform {
  const name = new RegExp(`("model":\\s*)${JSON.stringify(from)}`, 'g');
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const text = chunk.toString('latin1');
      done(
        null,
        name.test(text)
          ? Buffer.from(text.replace(name, `$1${JSON.stringify(to)}`), 'latin1')
          : chunk,
      );
    },
  });
}
