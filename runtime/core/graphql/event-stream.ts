import { PassThrough } from 'node:stream';
import type { Context } from 'koa';
import type { RequestContext } from '../context/request-context.ts';
import { failure } from '../errors.ts';
import type { RevalidateCaller } from '../module.ts';
import { type CallerWatch, watchCaller } from './caller-watch.ts';
import { freshContext } from './fresh-context.ts';
import type { Parameters } from './parameters.ts';
import { findOperation, leaveRefused, respondOnce, type Service } from './service.ts';
import { roomToSend } from './event-queue.ts';
import type { SocketCallers } from './socket-caller.ts';
import { subscribe } from './subscription.ts';

/** Milliseconds between two comments that keep the connection alive. */
const KEEP_ALIVE_EVERY = 12_000;
/** Milliseconds after which a client that does not read the end of its stream is disconnected. */
const DISCONNECT_AFTER = 30_000;

export interface EventStreamOptions {
  readonly service: Service;
  readonly callers: SocketCallers;
  readonly revalidate: RevalidateCaller | undefined;
}

export interface EventStreams {
  /** @throws what `findOperation` and `subscribe` throw, before the first byte. */
  answer(ctx: Context, parameters: Parameters): Promise<void>;
  /**
   * Ends every stream without `complete`, so that clients connect again, to another server or this
   * one after its restart.
   */
  close(): void;
}

/**
 * Answers with server-sent events: `next` for each result, then `complete`. This is the
 * distinct-connections mode of the "GraphQL over Server-Sent Events" protocol.
 */
export function createEventStreams(options: EventStreamOptions): EventStreams {
  const bodies = new Set<PassThrough>();
  const track = (body: PassThrough) => {
    bodies.add(body);
    body.once('close', () => bodies.delete(body));
  };
  return {
    answer: createAnswer(options, track),
    close: () => bodies.forEach((body) => body.end()),
  };
}

function createAnswer(
  { service, callers, revalidate }: EventStreamOptions,
  track: (body: PassThrough) => void,
): EventStreams['answer'] {
  return async function streamEvents(ctx, parameters) {
    const context = ctx.state['context'] as RequestContext;
    const operation = await findOperation(service, parameters, context);
    if (operation.node.operation !== 'subscription') {
      const texts = respondOnce(service, { operation, parameters, context });
      return track(open(ctx, service, texts));
    }
    let changed = () => {};
    const left = new Promise<void>((resolve) => (changed = resolve));
    const request = ctx.req;
    const watch = watchCaller({ callers, revalidate, request, headers: {}, context, changed });
    try {
      const results = await subscribe(service, {
        transport: 'event_stream',
        operation,
        parameters,
        context: async () => {
          await watch.assertSame();
          return freshContext(service.engine, context);
        },
      });
      track(open(ctx, service, results, { watch, left }));
    } catch (refused) {
      watch.stop();
      throw refused;
    }
  };
}

/** Ways in which a stream ends before its results end. */
interface Leaving {
  readonly watch: CallerWatch;
  /** Resolves when the caller has changed. */
  readonly left: Promise<void>;
}

function open(
  ctx: Context,
  service: Service,
  results: AsyncIterableIterator<string>,
  leaving?: Leaving,
): PassThrough {
  const body = new PassThrough();
  ctx.status = 200;
  ctx.set({
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-store',
    'X-Accel-Buffering': 'no',
  });
  ctx.body = body;
  ctx.req.socket.setNoDelay(true);
  const waiting = () => body.writableLength + body.readableLength + ctx.res.writableLength;
  void write({ service, body, waiting, results }, ctx, leaving);
  return body;
}

interface Stream {
  readonly service: Service;
  readonly body: PassThrough;
  /** Bytes that the client has not received yet. */
  readonly waiting: () => number;
  readonly results: AsyncIterableIterator<string>;
}

async function write(stream: Stream, ctx: Context, leaving?: Leaving): Promise<void> {
  const { service, body, results } = stream;
  // Proxies close connections without traffic, so a comment is sent regularly.
  const beat = setInterval(() => isOpen(body) && body.write(':\n\n'), KEEP_ALIVE_EVERY);
  body.once('close', () => {
    leaving?.watch.stop();
    void results.return?.();
  });
  body.write(':\n\n');
  try {
    await Promise.race([send(stream), ...(leaving ? [refuseWhen(leaving.left)] : [])]);
  } catch (thrown) {
    const { text } = await leaveRefused(service, thrown, ctx.state['context']);
    if (isOpen(body)) body.write(eventOf(String(text)));
  } finally {
    clearInterval(beat);
    leaving?.watch.stop();
    void results.return?.();
    if (isOpen(body)) body.end('event: complete\ndata:\n\n');
    const late = setTimeout(() => ctx.res.destroy(), DISCONNECT_AFTER).unref();
    ctx.res.once('close', () => clearTimeout(late));
  }
}

const isOpen = (body: PassThrough) => !body.destroyed && !body.writableEnded;

const eventOf = (text: string) => `event: next\ndata: ${text}\n\n`;

async function send({ body, waiting, results }: Stream): Promise<void> {
  for (;;) {
    await roomToSend(() => (body.destroyed ? 0 : waiting()));
    const { done, value } = await results.next();
    if (done || !isOpen(body)) return;
    body.write(eventOf(value));
  }
}

async function refuseWhen(left: Promise<void>): Promise<never> {
  await left;
  throw failure.unauthenticated();
}
