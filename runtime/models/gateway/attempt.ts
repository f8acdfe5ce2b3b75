import { Readable } from 'node:stream';
import { AppError } from '@twofold/runtime/errors';
import { type Call, type Reply, reply } from '@twofold/runtime/http';
import type { EngineResponse } from '../engine/engine.ts';
import { type Admission, type Admitted, type Caller, countsTokens } from './admission.ts';
import { Assembly } from './assemble.ts';
import type { ChatChunk, Fields, Translated, Usage } from './dialect.ts';
import { Meter, readAnswer, readChunks, readText } from './engine-answer.ts';
import { assertCan } from './engine-limits.ts';
import { bounded, countPrompt, type Estimate, estimate } from './estimate.ts';
import { engineFailure, modelCut, modelEnded, refusal } from './failures.ts';
import type { Figures } from './figures.ts';
import type { ModelLease } from './model-access.ts';
import { toText } from './request-body.ts';

export interface AttemptParts {
  readonly admission: Admission;
  readonly figures: Figures | null;
  /** The most tokens of a conversation, where an engine does not say it. */
  readonly context: number;
}

/** A request with one of the models that may answer it. */
export interface Attempt {
  readonly call: Call;
  readonly caller: Caller;
  readonly translated: Translated;
  readonly lease: ModelLease;
  /** Milliseconds of `performance.now()`. */
  readonly begun: number;
}

/** An attempt that was admitted. */
interface Running extends Attempt {
  readonly parts: AttemptParts;
  readonly admitted: Admitted;
  readonly meter: Meter;
}

/**
 * Asks one model. The model is given back when its answer has ended, which for a stream is after
 * this has returned.
 *
 * @throws AppError before anything was answered, so that another model may be asked
 */
export async function attempt(parts: AttemptParts, given: Attempt): Promise<Reply> {
  let handed = false;
  try {
    assertCan(given.lease.engine, given.translated);
    const running = await admit(parts, given);
    try {
      const response = await ask(running);
      if (!given.translated.stream) return await whole(running, response);
      const streamed = await stream(running, response);
      handed = true;
      return streamed;
    } catch (error) {
      await end(running, given.call.context.signal.aborted ? 'left' : 'failed', statusOf(error));
      throw error;
    }
  } finally {
    if (!handed) given.lease.release();
  }
}

const NOTHING: Usage = { input: 0, output: 0 };

async function admit(parts: AttemptParts, given: Attempt): Promise<Running> {
  const { call, caller, lease, translated } = given;
  const { signal } = call.context;
  const most: Estimate | null = countsTokens(caller)
    ? await estimate(translated, lease, { signal, context: parts.context })
    : null;
  const reserved = most ?? NOTHING;
  const admitted = await parts.admission
    .admit(caller, lease.id, reserved)
    .catch((error: unknown) => {
      parts.figures?.ended({ model: lease.id, key: caller.id }, 429, NOTHING);
      throw error;
    });
  return {
    ...given,
    ...{ parts, admitted, meter: new Meter(reserved, isStreamed(given)) },
    translated: most ? bounded(translated, most) : translated,
  };
}

const statusOf = (error: unknown) => (error instanceof AppError ? error.status : 502);

/** Records the end of a request. What the client left costs what was made until then. */
async function end(
  { parts, admitted, meter, lease, caller }: Running,
  how: 'answered' | 'left' | 'failed',
  code: number,
): Promise<void> {
  const used = how === 'failed' ? NOTHING : meter.used();
  parts.figures?.ended({ model: lease.id, key: caller.id }, how === 'left' ? 499 : code, used);
  await admitted.settle(used, how === 'failed');
}

/**
 * Whether an engine is asked for a stream, also where the caller wants the answer whole: see
 * `Assembly`. The streams of `mlx_lm.server` have no `logprobs`.
 */
function isStreamed({ lease, translated }: Attempt): boolean {
  const { path, body, stream } = translated;
  if (stream) return true;
  const isText = path === 'chat/completions' || path === 'completions';
  return isText && !(lease.engine === 'mlx' && body['logprobs']);
}

async function ask(running: Running): Promise<EngineResponse> {
  const { translated, lease, meter } = running;
  const response = await send(running);
  if (response.status < 400) return response;
  const text = await readText(response.body).catch(() => '');
  const wasOurs = lease.engine === 'openai' && meter.isStreamed && !translated.stream;
  if (!wasOurs || !REFUSALS.includes(response.status)) throw engineFailure(response.status, text);
  // It may be the stream that an attached server refuses, and the caller has not asked for one.
  meter.isStreamed = false;
  return ask(running);
}

/** Statuses with which servers refuse a field. */
const REFUSALS: readonly number[] = [400, 422];

async function send({ call, translated, lease, meter }: Running): Promise<EngineResponse> {
  const { path, body } = translated;
  const options = { ...(body['stream_options'] as object | undefined), include_usage: true };
  const asked: Fields = {
    ...body,
    model: lease.endpoint.model,
    ...(meter.isStreamed && { stream: true, stream_options: options }),
  };
  const request = {
    path,
    method: 'POST',
    body: toText(asked),
    accept: meter.isStreamed ? 'text/event-stream' : 'application/json',
    signal: call.context.signal,
  } as const;
  return lease.endpoint.ask(request).catch((error: unknown) => {
    throw error instanceof AppError ? error : modelEnded(error);
  });
}

/** Headers of every answer: which model gave it, and what is left of the budget. */
const headersOf = ({ lease, admitted }: Running) => ({
  'x-twofold-model': lease.id,
  ...admitted.headers,
});

async function whole(running: Running, response: EngineResponse): Promise<Reply> {
  const { translated, lease, meter } = running;
  // A server that has no streams may ignore that it was asked for one.
  if (isJson(response)) meter.isStreamed = false;
  const body = meter.isStreamed
    ? await assemble(running, response)
    : await readAnswer(response.body);
  meter.answer(body);
  const answer = translated.whole(body, meter.used(), lease.id);
  await end(running, 'answered', 200);
  return reply(200, answer, headersOf(running));
}

const isJson = ({ headers }: EngineResponse) =>
  headers['content-type']?.includes('application/json') ?? false;

async function assemble(running: Running, response: EngineResponse): Promise<Fields> {
  const { meter, translated } = running;
  const assembly = new Assembly();
  try {
    for await (const chunks of readChunks(response.body)) {
      begin(running);
      for (const chunk of chunks) {
        meter.chunk(chunk);
        assembly.chunk(chunk);
      }
    }
  } catch (error) {
    throw error instanceof AppError ? error : modelCut(error);
  }
  return assembly.answer(translated.path === 'chat/completions');
}

const BEGUN = new WeakSet<Meter>();

/** Notes the time to the first piece, once. */
function begin({ parts, meter, lease, begun }: Running): void {
  if (!parts.figures || BEGUN.has(meter)) return;
  BEGUN.add(meter);
  parts.figures.firstToken(lease.id, (performance.now() - begun) / 1000);
}

async function stream(running: Running, response: EngineResponse): Promise<Reply> {
  const chunks = readChunks(response.body);
  // Until the first chunk the status can still say what went wrong, or another model be asked.
  const first = await chunks.next().catch((error: unknown) => {
    throw error instanceof AppError ? error : modelEnded(error);
  });
  begin(running);
  const written: Written = { how: 'left' };
  const body = Readable.from(write(running, { chunks, first, written }), { objectMode: false });
  // A stream that nobody reads is closed too, and its generator then has not begun.
  body.once('close', () => {
    response.body.destroy();
    running.lease.release();
    void end(running, written.how, written.how === 'failed' ? 502 : 200);
  });
  return reply(200, body, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    'x-accel-buffering': 'no',
    ...headersOf(running),
  });
}

interface Written {
  how: 'answered' | 'left' | 'failed';
}

interface Source {
  readonly chunks: AsyncGenerator<readonly ChatChunk[]>;
  readonly first: IteratorResult<readonly ChatChunk[]>;
  readonly written: Written;
}

async function* write(
  { call, translated, lease, meter }: Running,
  { chunks, first, written }: Source,
): AsyncGenerator<string> {
  const writer = translated.events(lease.id);
  try {
    for (let next = first; !next.done; next = await chunks.next()) {
      for (const chunk of next.value) meter.chunk(chunk);
      const text = next.value.map((chunk) => writer.chunk(chunk)).join('');
      if (text !== '') yield text;
    }
    written.how = 'answered';
    yield writer.end(meter.used());
  } catch (error) {
    if (call.context.signal.aborted) throw error;
    written.how = 'failed';
    yield writer.fail(error instanceof AppError ? error : modelCut(error));
  }
}

/** The tokens of a request, without an answer. */
export async function countTokens({ call, translated, lease }: Attempt): Promise<Reply> {
  try {
    const counted = await countPrompt(translated, lease, call.context.signal);
    if (!counted) throw refusal(400, `The ${lease.engine} engine cannot count tokens`);
    return reply(200, { input_tokens: counted.tokens }, { 'x-twofold-model': lease.id });
  } finally {
    lease.release();
  }
}
