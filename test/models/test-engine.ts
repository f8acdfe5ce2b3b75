import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** How the engine behaves; a test may change it at any time. */
export interface EngineBehaviour {
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number };
  /** The pieces of an answer, and the milliseconds before each. */
  pieces: readonly string[];
  delay: number;
  /** Milliseconds before an answer that is not streamed; null is `delay`. */
  whole: number | null;
  /** Cuts the connection after so many pieces. */
  cutAfter: number | null;
  /** Every answer has this status. */
  status: number | null;
  /** Whether it streams when it is asked to, answers 400 then, or answers whole. */
  streams: 'kept' | 'refused' | 'ignored';
  /** Called before each answer. */
  before: () => Promise<void>;
}

export interface TestEngine {
  readonly url: string;
  readonly behaviour: EngineBehaviour;
  readonly seen: { readonly path: string; readonly body: any }[];
  /** Connections that callers closed before their answer was complete. */
  left: number;
  close(): Promise<void>;
}

export const USUAL: EngineBehaviour = {
  usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
  pieces: ['Hel', 'lo', '!'],
  delay: 0,
  whole: null,
  cutAfter: null,
  status: null,
  streams: 'kept',
  before: async () => {},
};

/** An OpenAI server of the test, with set usage, delays and cuts. */
export async function startEngine(models: readonly string[]): Promise<TestEngine> {
  const behaviour = { ...USUAL };
  const seen: TestEngine['seen'] = [];
  const server = createServer((request, response) => void answer(request, response));
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === '/v1/models')
      return void response.end(JSON.stringify({ data: models.map((id) => ({ id })) }));
    let text = '';
    for await (const chunk of request) text += chunk;
    const body = JSON.parse(text);
    seen.push({ path: request.url ?? '', body });
    await behaviour.before();
    response.once('close', () => !response.writableFinished && (engine.left += 1));
    if (behaviour.status !== null)
      return void response
        .writeHead(behaviour.status, { 'content-type': 'application/json' })
        .end('{"error":{"message":"the engine is ill","type":"server_error"}}');
    if (body.stream && behaviour.streams === 'refused')
      return void response
        .writeHead(400, { 'content-type': 'application/json' })
        .end('{"error":{"message":"no streams here","param":"stream"}}');
    await (body.stream && behaviour.streams === 'kept'
      ? stream(response, body)
      : whole(request.url ?? '', response, body));
  }
  async function stream(response: ServerResponse, { model }: any): Promise<void> {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (data: object) =>
      void response.write(`data: ${JSON.stringify({ id: 'c', model, ...data })}\n\n`);
    for (const [index, content] of behaviour.pieces.entries()) {
      if (index === behaviour.cutAfter) return void response.destroy();
      if (behaviour.delay > 0) await sleep(behaviour.delay);
      send({ choices: [{ index: 0, delta: { content }, finish_reason: null }] });
    }
    send({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
    send({ choices: [], usage: behaviour.usage });
    response.end('data: [DONE]\n\n');
  }
  async function whole(path: string, response: ServerResponse, body: any): Promise<void> {
    const { delay, whole: before } = behaviour;
    if ((before ?? delay) > 0) await sleep(before ?? delay);
    if (behaviour.cutAfter !== null) return void response.destroy();
    const { usage, pieces } = behaviour;
    const message = { role: 'assistant', content: pieces.join('') };
    const answers: Record<string, object> = {
      '/v1/embeddings': { data: [{ object: 'embedding', index: 0, embedding: [1, 0] }] },
      '/v1/rerank': {
        results: (body.documents ?? []).map((text: string, index: number) => ({
          index,
          relevance_score: text.length / 100,
        })),
      },
    };
    const chat = { choices: [{ index: 0, message, finish_reason: 'stop' }] };
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ model: body.model, ...(answers[path] ?? chat), usage }));
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const engine: TestEngine = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    ...{ behaviour, seen, left: 0 },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return engine;
}
