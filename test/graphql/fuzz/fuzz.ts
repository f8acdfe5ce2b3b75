import http, { type IncomingMessage } from 'node:http';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildSchema, type GraphQLSchema } from 'graphql';
import { WebSocket } from 'ws';
import type { Project } from '@twofold/schema';
import { createRandom, type Random } from '../random-schema.ts';
import {
  operation,
  PATH,
  randomShot,
  type Shot,
  spoilBytes,
  spoilDocument,
  oddValue,
} from './requests.ts';
import { faultIn, faultInErrors, isMap, parseJson, type Asked } from './valid-answer.ts';

export interface Fuzzing {
  readonly url: string;
  readonly project: Project;
  readonly seed: number;
  readonly milliseconds: number;
  readonly workers?: number;
}

export interface Memory {
  readonly rss: number;
  readonly heapUsed: number;
  readonly external: number;
  readonly sockets: number;
  readonly timers: number;
}

export interface Fuzzed {
  readonly shots: number;
  /** By kind and status. */
  readonly answers: Readonly<Record<string, number>>;
  /** After the first, the second and the last third, with garbage collected. */
  readonly memory: readonly Memory[];
}

/**
 * Sends whatever it can think of, for so long, and looks at every answer.
 *
 * @throws TypeError that says what was sent and what is wrong with the answer.
 */
export async function fuzz({
  url,
  project,
  seed,
  milliseconds,
  workers = 4,
}: Fuzzing): Promise<Fuzzed> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 8 });
  const schema = buildSchema(project.sdl, { assumeValidSDL: true });
  const answers: Record<string, number> = {};
  const target: Target = {
    url,
    agent,
    schema,
    project,
    note: (what) => void (answers[what] = (answers[what] ?? 0) + 1),
  };
  const memory: Memory[] = [];
  const idle = await memoryOf(url);
  let shots = 0;
  for (let third = 0; third < 3; third++) {
    const end = Date.now() + milliseconds / 3;
    await Promise.all(
      Array.from({ length: workers }, async (_, worker) => {
        const random = createRandom(seed * 1000 + third * 100 + worker);
        for (; Date.now() < end; shots++) await shoot(target, random);
      }),
    );
    memory.push(await memoryOf(url));
  }
  agent.destroy();
  await healthy(url, idle);
  return { shots, answers, memory };
}

/**
 * Errors of the log, but for the one that a function of the test throws, and for Node's warning that a checkout strips
 * the types of the explorer's scripts: packages hold JavaScript.
 */
export function complaintsOf(log: string): string[] {
  return log
    .split('\n')
    .filter((line) => /"level":[56]0|unhandled|Warning:/i.test(line))
    .filter((line) => !/hunter2|stripTypeScriptTypes/.test(line));
}

interface Target {
  readonly url: string;
  readonly agent: http.Agent;
  readonly schema: GraphQLSchema;
  readonly project: Project;
  note(what: string): void;
}

export const memoryOf = async (url: string): Promise<Memory> =>
  (await (await fetch(`${url}/memory`)).json()) as Memory;

/** It answers as ever, and nothing that was begun is left. */
async function healthy(url: string, idle: Memory): Promise<void> {
  const response = await fetch(url + PATH, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"query":"{ __typename notes { id } }"}',
  });
  const { data } = (await response.json()) as { data?: { __typename?: string } };
  if (data?.__typename !== 'Query') throw new TypeError('the server is not well');
  // A database keeps some connections, and each of them a timer.
  const left = ({ sockets, timers }: Memory) => [
    Math.max(sockets - idle.sockets - 12, 0),
    Math.max(timers - idle.timers - 12, 0),
  ];
  for (let tries = 0; tries < 300 && left(await memoryOf(url)).some((count) => count > 0); tries++)
    await sleep(50);
  const [sockets, timers] = left(await memoryOf(url));
  if (sockets || timers)
    throw new TypeError(`${sockets} sockets and ${timers} timers too many are left`);
}

function shoot(target: Target, random: Random): Promise<void> {
  const deed = random.below(20);
  if (deed < 16) return shootHttp(target, randomShot(random, target.project));
  if (deed < 18) return shootRaw(target, random);
  return shootSocket(target, random);
}

const wrong = (shot: unknown, fault: string, answer: unknown): never => {
  throw new TypeError(
    `${fault}\nsent: ${JSON.stringify(shot, (_, value) => (value?.type === 'Buffer' ? Buffer.from(value.data).toString() : value)).slice(0, 4000)}\nanswered: ${JSON.stringify(answer).slice(0, 4000)}`,
  );
};

const STATUSES = new Set([200, 204, 400, 401, 403, 404, 405, 406, 413, 415, 417, 431]);

async function shootHttp(target: Target, shot: Shot): Promise<void> {
  const answer = await request(target, shot).catch((error: NodeJS.ErrnoException) =>
    wrong(shot, `no answer: ${error.code} ${error.message}`, null),
  );
  if (!answer) return target.note(`${shot.kind} not sent`);
  const { status, type, text } = answer;
  target.note(`${shot.kind} ${status}`);
  if (!STATUSES.has(status)) wrong(shot, `status ${status}`, answer);
  if (text.includes('hunter2')) wrong(shot, 'it tells a secret', answer);
  const fault =
    shot.method === 'HEAD' || status === 204 ? undefined : faultInAnswer(target, shot, answer);
  if (fault) wrong(shot, fault, { status, type, text });
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

/** Undefined when it cannot be put on the wire. A stream of events is left after a moment. */
function request(
  { url, agent }: Target,
  { method, path, headers, body }: Shot,
): Promise<Answer | undefined> {
  return new Promise((resolve, reject) => {
    let sent: http.ClientRequest;
    try {
      sent = http.request(url + path, {
        method,
        agent,
        headers: { ...headers, ...(body.length > 0 && { 'content-length': body.length }) },
      });
    } catch {
      return resolve(undefined);
    }
    sent.setTimeout(20_000, () => sent.destroy(new TypeError('it takes too long')));
    sent.on('error', reject).on('response', (response) => read(response, resolve, reject));
    sent.end(body);
  });
}

function read(
  response: IncomingMessage,
  resolve: (answer: Answer) => void,
  reject: (error: Error) => void,
): void {
  const chunks: Buffer[] = [];
  const type = response.headers['content-type'] ?? '';
  const done = () =>
    resolve({ status: response.statusCode ?? 0, type, text: Buffer.concat(chunks).toString() });
  response
    .on('data', (chunk: Buffer) => chunks.push(chunk))
    .on('end', done)
    .on('error', reject);
  if (type.includes('event-stream')) setTimeout(() => (done(), response.destroy()), 60).unref();
}

function faultInAnswer(
  { schema }: Target,
  { asked, path, body }: Shot,
  { status, type, text }: Answer,
): string | undefined {
  if (type.startsWith('text/html'))
    return path.startsWith(PATH) && status === 200 ? undefined : 'a page that nobody asked for';
  if (type.startsWith('text/event-stream')) return faultInEvents(text, schema);
  if (/^text\/plain/.test(type))
    return status === 404 || status === 400 ? undefined : 'a text that nobody asked for';
  if (!/^application\/(graphql-response\+)?json/.test(type)) return `the type ${type}`;
  if (text.startsWith('[')) return faultInBatch(text, schema, body);
  const fault = faultIn(text, schema, status === 200 ? asked : undefined);
  const answer = parseJson(text) as Record<string, unknown>;
  if (fault && !(isMap(answer) && typeof answer['error'] === 'string' && status >= 400))
    return fault;
  // "GraphQL over HTTP", section 6.4: without data nothing was run, and the type that has statuses for it says so.
  if (type.startsWith('application/graphql-response') && status === 200 && !('data' in answer))
    return 'nothing was run, and the status is 200';
  return status !== 200 && 'data' in answer
    ? 'something was run, and the status says that nothing was'
    : undefined;
}

function faultInBatch(text: string, schema: GraphQLSchema, body: Buffer): string | undefined {
  const [all, asked] = [parseJson(text), parseJson(body.toString())];
  if (!Array.isArray(all) || !Array.isArray(asked) || all.length !== asked.length)
    return 'a batch has not as many answers as questions';
  return all
    .map((answer) => faultIn(JSON.stringify(answer), schema))
    .find((fault) => fault !== undefined);
}

/** Server-sent events, by the protocol of graphql-sse. What comes last may be cut off. */
function faultInEvents(text: string, schema: GraphQLSchema): string | undefined {
  for (const event of text.split('\n\n').slice(0, -1)) {
    if (event === ':') continue;
    const [, name, data] = /^event: (next|complete)\ndata:(?: (.*))?$/.exec(event) ?? [];
    if (!name) return `the event ${JSON.stringify(event)}`;
    const fault = name === 'next' ? faultIn(data ?? '', schema) : data && 'complete has data';
    if (fault) return fault;
  }
  return undefined;
}

/** Bytes on the wire that HTTP would not send so. */
async function shootRaw(target: Target, random: Random): Promise<void> {
  const { query, variables } = operation(random, target.project);
  const body = JSON.stringify({ query, variables });
  const length = random.pick([body.length, 0, -1, body.length + 5, 1e12, 'x']);
  const head = random.pick([
    'POST /graphql HTTP/1.1',
    'POST /graphql HTTP/1.0',
    'POST http://x/graphql HTTP/1.1',
    'GET /graphql?query={__typename} HTTP/1.1',
    'POST //graphql/../graphql HTTP/1.1',
    'POST /graphql HTTP/9.9',
  ]);
  const lines = [
    head,
    'host: x',
    'content-type: application/json',
    random.chance(0.7) ? `content-length: ${length}` : 'transfer-encoding: chunked',
    ...(random.chance(0.2) ? [`x: ${'y'.repeat(20_000)}`] : []),
    ...(random.chance(0.2) ? ['content-length: 3'] : []),
    '',
    random.chance(0.5) ? body : `5\r\n{"que\r\n${body}`,
  ];
  const bytes = Buffer.from(lines.join('\r\n'));
  const text = await exchange(
    target.url,
    random.chance(0.6) ? spoilBytes(random, bytes) : bytes,
    random.below(80),
  );
  const status = /^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 'none';
  target.note(`raw ${status}`);
  if (
    text !== '' &&
    (status === 'none' || (Number(status) >= 500 && status !== '501' && status !== '505'))
  )
    wrong(bytes.toString(), `status ${status}`, text);
  if (/node:internal|\.ts:\d+|node_modules|hunter2/.test(text))
    wrong(bytes.toString(), 'it tells of the inside of the server', text);
}

/** What comes back until the other side ends, or after a moment more. */
function exchange(url: string, bytes: Buffer, patience: number): Promise<string> {
  const { port, hostname } = new URL(url);
  return new Promise((resolve) => {
    let text = '';
    const socket = net.connect(Number(port), hostname, () => socket.write(bytes));
    socket.setTimeout(patience + 20, () => socket.destroy());
    socket
      .on('data', (chunk) => void (text += chunk))
      .on('error', () => {})
      .on('close', () => resolve(text));
  });
}

/** What the protocol says, and what `ws` says of frames. 4500 is an error of ours. */
const CLOSINGS = new Set([
  1000, 1001, 1002, 1003, 1005, 1006, 1007, 1009, 4400, 4401, 4403, 4406, 4408, 4409, 4429,
]);

async function shootSocket(target: Target, random: Random): Promise<void> {
  const socket = new WebSocket(
    target.url.replace('http', 'ws') + PATH,
    random.chance(0.95) ? 'graphql-transport-ws' : ['graphql-ws'],
  );
  const sent: unknown[] = [];
  const closed = new Promise<number>(
    (resolve) => void socket.on('close', resolve).on('error', () => {}),
  );
  let fault: string | undefined;
  socket.on('message', (data) => (fault ??= faultInMessage(String(data), target.schema)));
  socket.on('open', () => {
    const frames = randomFrames(random, target.project);
    for (const frame of frames) {
      sent.push(frame);
      if (socket.readyState === WebSocket.OPEN) send(socket, random, frame);
    }
    setTimeout(() => socket.close(1000), random.below(150)).unref();
  });
  const code = await Promise.race([closed, sleep(20_000).then(() => -1)]);
  target.note(`socket ${code}`);
  if (!CLOSINGS.has(code)) wrong(sent, `a socket was closed with ${code}`, null);
  if (fault) wrong(sent, fault, null);
}

function randomFrames(random: Random, project: Project): unknown[] {
  const asked = () =>
    random.chance(0.3)
      ? {
          query: random.pick([
            'subscription { noteChanged { id text } }',
            'subscription { ticks(to: 5) }',
            'subscription { diaryCreated { id } }',
          ]),
        }
      : operation(random, project);
  const spoilt = ({ query, ...rest }: Partial<Asked>) => ({
    ...rest,
    query: random.chance(0.3) ? spoilDocument(random, query ?? '') : query,
  });
  const frames: unknown[] = random.chance(0.9)
    ? [{ type: 'connection_init', ...(random.chance(0.4) && { payload: oddValue(random) }) }]
    : [];
  for (let count = random.below(8); count > 0; count--) {
    const id = random.pick(['1', '2', '3', '', 'x'.repeat(100)]);
    const kind = random.below(10);
    if (kind < 5) frames.push({ type: 'subscribe', id, payload: spoilt(asked()) });
    else if (kind === 5) frames.push({ type: 'complete', id });
    else if (kind === 6) frames.push({ type: 'ping', payload: oddValue(random) });
    else if (kind === 7)
      frames.push({
        type: random.pick(['pong', 'start', 'next', '', 'connection_init', 'connection_terminate']),
        id: oddValue(random),
      });
    else if (kind === 8) frames.push(oddValue(random));
    else frames.push({ type: 'subscribe', id: oddValue(random), payload: oddValue(random) });
  }
  return frames;
}

function send(socket: WebSocket, random: Random, frame: unknown): void {
  const bytes = Buffer.from(JSON.stringify(frame) ?? '');
  if (random.chance(0.05)) socket.ping();
  if (random.chance(0.1)) socket.send(spoilBytes(random, bytes), { binary: random.chance(0.5) });
  else socket.send(bytes, { binary: false });
}

function faultInMessage(text: string, schema: GraphQLSchema): string | undefined {
  const message = parseJson(text);
  if (!isMap(message)) return `the message ${text}`;
  switch (message['type']) {
    case 'connection_ack':
    case 'ping':
    case 'pong':
      return undefined;
    case 'complete':
      return typeof message['id'] === 'string' ? undefined : 'complete has no id';
    case 'error':
      return faultInErrors(message['payload']);
    case 'next':
      return faultIn(JSON.stringify(message['payload']), schema);
    default:
      return `the message ${text}`;
  }
}
