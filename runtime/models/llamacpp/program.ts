import { writeFile } from 'node:fs/promises';
import { answerStreamed, answerWhole } from './answer.ts';
import { ApiFailure } from './failure.ts';
import { type Generator, loadGenerator } from './generator.ts';
import type { LlamaCall, LlamaOrder, LlamaReply, LlamaRequest, LlamaStarted } from './messages.ts';
import { ResponseStream } from './response-stream.ts';
import { type Prompt, readPrompt } from './prompt.ts';
import { answerEmbeddings, answerRerank } from './vector-requests.ts';

/**
 * A separate program that loads one model with llama.cpp and answers calls of the OpenAI API from
 * its IPC channel. It ends when that channel closes, which happens when the server ends.
 */

const KINDS: Readonly<Record<string, Prompt['kind']>> = {
  'chat/completions': 'chat',
  completions: 'text',
};
const ANSWERS: Readonly<Record<string, typeof answerEmbeddings>> = {
  embeddings: answerEmbeddings,
  rerank: answerRerank,
};
/** `count/chat/completions` answers with the tokens of a prompt. Only the server asks for it. */
const COUNT = 'count/';

process.once('disconnect', () => process.exit(0));
process.once('SIGTERM', () => process.exit(0));
process.once(
  'message',
  (order: LlamaOrder) =>
    void begin(order).then(sendToServer, (error: unknown) =>
      sendToServer({ problem: (error as Error).message }),
    ),
);

function sendToServer(message: LlamaStarted | LlamaReply): void {
  process.send?.(message);
}

async function begin(order: LlamaOrder): Promise<LlamaStarted> {
  // When memory runs out, the kernel kills this process first, and not the server (Linux only).
  await writeFile('/proc/self/oom_score_adj', '800').catch(() => {});
  const generator = await loadGenerator(await import(order.library), order);
  const open = new Map<number, AbortController>();
  process.on('message', (request: LlamaRequest) => {
    if ('cancel' in request) open.get(request.id)?.abort();
    else void serve(request, { model: order.id, generator, open });
  });
  return { ready: true, layers: generator.layersOnGpu };
}

interface Serving {
  readonly model: string;
  readonly generator: Generator;
  /** Running calls by id. */
  readonly open: Map<number, AbortController>;
}

async function serve(
  { id, path, body }: LlamaCall,
  { model, generator, open }: Serving,
): Promise<void> {
  const response = new ResponseStream(id, sendToServer);
  const abort = new AbortController();
  open.set(id, abort);
  try {
    const value: unknown = JSON.parse(body ?? 'null');
    const { signal } = abort;
    const { vectors } = generator;
    const read = ANSWERS[path];
    if (read) return response.json(200, await read(value, { vectors, model, signal }));
    if (path.startsWith(COUNT)) return response.json(200, countTokens(path, value, generator));
    const prompt = readPrompt(kindOf(path), value);
    const answer = prompt.stream ? answerStreamed : answerWhole;
    await answer(response, { generator, prompt, model, signal });
  } catch (error) {
    if (!abort.signal.aborted) sendError(response, error);
  } finally {
    open.delete(id);
  }
}

function kindOf(path: string): Prompt['kind'] {
  const kind = KINDS[path];
  if (kind === undefined) throw new ApiFailure(404, `The llamacpp engine has no /v1/${path}`);
  return kind;
}

function countTokens(path: string, value: unknown, generator: Generator): object {
  const prompt = readPrompt(kindOf(path.slice(COUNT.length)), value);
  return { tokens: generator.count(prompt), context: generator.contextSize };
}

/** Sends an error, as an event if the stream has begun and its status is already sent. */
function sendError(response: ResponseStream, error: unknown): void {
  const known =
    error instanceof ApiFailure ? error : new ApiFailure(500, 'The model could not go on');
  if (!(error instanceof ApiFailure)) process.stderr.write(`${(error as Error).stack}\n`);
  if (!response.begun) return response.json(known.status, known.body());
  response.end(`data: ${JSON.stringify(known.body())}\n\n`);
}
