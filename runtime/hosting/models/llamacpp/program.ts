import { timingSafeEqual } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerStreamed, answerWhole } from './answer.ts';
import { ApiFailure } from './failure.ts';
import { type Generator, loadGenerator } from './generator.ts';
import type { LlamaAnswer, LlamaOrder } from './order.ts';
import { readPrompt } from './prompt.ts';

/**
 * A program of its own: loads one model with llama.cpp and serves it on loopback with the OpenAI API. It ends with the
 * server that started it, whose channel to it then closes.
 */

const BODY = 32 * 1024 * 1024;

process.once('disconnect', () => process.exit(0));
process.once('SIGTERM', () => process.exit(0));
process.once('message', (order: LlamaOrder) => void begin(order).then(say, (error: unknown) => say({ problem: (error as Error).message })));

function say(answer: LlamaAnswer): void {
  process.send?.(answer);
}

async function begin(order: LlamaOrder): Promise<LlamaAnswer> {
  // When memory ends, the system shall take the model and not the server (Linux only).
  await writeFile('/proc/self/oom_score_adj', '800').catch(() => {});
  const generator = await loadGenerator(await import(order.library), order);
  const server = createServer({ requestTimeout: 0 }, (request, response) => void serve(request, response, { order, generator }).catch((error: unknown) => refuse(response, error)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port };
}

interface Serving {
  readonly order: LlamaOrder;
  readonly generator: Generator;
}

async function serve(request: IncomingMessage, response: ServerResponse, { order, generator }: Serving): Promise<void> {
  if (!isKey(request.headers.authorization, order.key)) throw new ApiFailure(401, 'Unauthorized');
  const [path] = (request.url ?? '').split('?');
  if (request.method === 'GET' && path === '/v1/models') return void sendJson(response, { object: 'list', data: [{ id: order.id, object: 'model', created: 0, owned_by: 'local' }] });
  const kind = path === '/v1/chat/completions' ? 'chat' : path === '/v1/completions' ? 'text' : null;
  if (kind === null || request.method !== 'POST') throw new ApiFailure(404, `The llamacpp engine has no ${request.method} ${path}`);
  const prompt = readPrompt(kind, await readBody(request));
  const abort = new AbortController();
  response.once('close', () => !response.writableFinished && abort.abort());
  const work = { generator, prompt, model: order.id, signal: abort.signal };
  await (prompt.stream ? answerStreamed(response, work) : answerWhole(response, work));
}

function isKey(given: string | undefined, key: string): boolean {
  const [a, b] = [Buffer.from(given ?? ''), Buffer.from(`Bearer ${key}`)];
  return a.length === b.length && timingSafeEqual(a, b);
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size > BODY) throw new ApiFailure(413, 'The body is too large');
    chunks.push(chunk as Buffer);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    throw new ApiFailure(400, 'The body is not JSON');
  }
}

const sendJson = (response: ServerResponse, body: unknown, status = 200) => response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));

/** In the middle of a stream there is no status left to say it with: an event does. */
function refuse(response: ServerResponse, error: unknown): void {
  const known = error instanceof ApiFailure ? error : new ApiFailure(500, 'The model could not go on');
  if (response.destroyed) return;
  if (!(error instanceof ApiFailure)) process.stderr.write(`${(error as Error).stack}\n`);
  if (!response.headersSent) return void sendJson(response, known.body(), known.status);
  response.end(`data: ${JSON.stringify(known.body())}\n\n`);
}
