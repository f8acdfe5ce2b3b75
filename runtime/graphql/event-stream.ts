import { PassThrough } from 'node:stream';
import type { Context } from 'koa';
import type { RequestContext } from '../context/request-context.ts';
import { freshContext } from './fresh-context.ts';
import type { Parameters } from './parameters.ts';
import { errorsOf, findOperation, refuse, respond, type Service } from './service.ts';
import { subscribe } from './subscription.ts';

const BEAT = 12_000;

/**
 * Answers with server-sent events: `next` for each result, then `complete`. This is the distinct-connections mode of the
 * "GraphQL over Server-Sent Events" protocol.
 *
 * @throws what `findOperation` and `subscribe` throw, before the first byte.
 */
export async function streamEvents(
  ctx: Context,
  service: Service,
  parameters: Parameters,
): Promise<void> {
  const context = ctx.state['context'] as RequestContext;
  const operation = findOperation(service, parameters);
  const results =
    operation.node.operation === 'subscription'
      ? await subscribe(service.engine, {
          operation,
          variables: parameters.variables,
          context: async () => freshContext(service.engine, context),
        })
      : single(async () => (await respond(service, operation, parameters, context)).text);
  const body = new PassThrough();
  ctx.status = 200;
  ctx.set({
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-store',
    'X-Accel-Buffering': 'no',
  });
  ctx.body = body;
  ctx.req.socket.setNoDelay(true);
  void write(body, results, context);
}

async function* single(answer: () => Promise<string>): AsyncIterableIterator<string> {
  yield await answer();
}

async function write(
  body: PassThrough,
  results: AsyncIterableIterator<string>,
  context: RequestContext,
): Promise<void> {
  // A comment now and then keeps proxies from closing what looks idle.
  const beat = setInterval(() => body.write(':\n\n'), BEAT);
  body.once('close', () => void results.return?.());
  body.write(':\n\n');
  try {
    for await (const text of results) {
      if (body.destroyed) return;
      if (!body.write(`event: next\ndata: ${text}\n\n`)) await drained(body);
    }
  } catch (thrown) {
    if (!body.destroyed)
      body.write(`event: next\ndata: ${refuse(errorsOf(thrown), context).text}\n\n`);
  } finally {
    clearInterval(beat);
    body.end('event: complete\ndata:\n\n');
  }
}

/** What is closed already says nothing any more. */
const drained = (body: PassThrough) =>
  new Promise<void>((resolve) =>
    body.destroyed ? resolve() : void body.once('drain', resolve).once('close', resolve),
  );
