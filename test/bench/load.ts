import { connect, type Socket } from 'node:net';

const CONNECTIONS = 64;

/** One request, to see that it is answered. @throws TypeError when the answer has errors */
export async function assertAnswered(port: number, query: string): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  const { errors } = (await response.json()) as {
    errors?: readonly { readonly message: string }[];
  };
  if (errors) throw new TypeError(`${query}: ${errors[0]?.message}`);
}

/** A request as bytes, ready to be sent again and again. */
export function requestBytes(
  body: unknown,
  path = '/graphql',
  headers: Readonly<Record<string, string>> = {},
): Buffer {
  const text = JSON.stringify(body);
  const more = Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: application/json\r\n${more}Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
}

/**
 * Sends `count` requests over kept connections, each waiting for its answer. Rejects when one is not a 200.
 *
 * @param burst milliseconds between two looks at the answers: the longer, the less the client needs itself.
 */
export async function drive(
  port: number,
  requests: readonly Buffer[],
  count: number,
  connections = CONNECTIONS,
  burst = 1,
): Promise<void> {
  let next = 0;
  const take = () => (next < count ? requests[next++ % requests.length] : undefined);
  const stop = readInBursts(burst);
  try {
    await Promise.all(
      Array.from({ length: Math.min(connections, count) }, () => converse(port, take)),
    );
  } finally {
    stop();
  }
}

const clock = new Int32Array(new SharedArrayBuffer(4));

/**
 * Waking a sleeping client costs the process that writes to it, and on a virtual machine as much as the whole answer of a
 * fast server. So the client never sleeps in `epoll`: it looks at all its connections once in a millisecond, or less often.
 */
function readInBursts(burst: number): () => void {
  let running = true;
  const next = () => {
    Atomics.wait(clock, 0, 0, burst);
    if (running) setImmediate(next);
  };
  setImmediate(next);
  return () => void (running = false);
}

function converse(port: number, take: () => Buffer | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    socket.setNoDelay(true);
    const ask = () => {
      const request = take();
      if (request) socket.write(request);
      else {
        socket.end();
        resolve();
      }
    };
    readAnswers(socket, (status) =>
      status === 200 ? ask() : reject(new Error(`the server answered ${status}`)),
    );
    socket.once('error', reject);
    socket.once('connect', ask);
  });
}

const END = Buffer.from('\r\n\r\n');
const LAST_CHUNK = Buffer.from('0\r\n\r\n');

/** Only as much of HTTP as is needed to know where an answer ends. */
function readAnswers(socket: Socket, onAnswer: (status: number) => void): void {
  let wanted = 0;
  let chunked = false;
  let status = 0;
  let pending: Buffer | undefined;
  let tail = Buffer.alloc(0);
  socket.on('data', (data: Buffer) => {
    let chunk = data;
    if (status === 0) {
      if (pending) chunk = Buffer.concat([pending, chunk]);
      const end = chunk.indexOf(END);
      if (end < 0) return void (pending = chunk);
      pending = undefined;
      const head = chunk.toString('latin1', 0, end);
      status = Number(head.slice(9, 12));
      const length = /\r\ncontent-length: *(\d+)/i.exec(head);
      chunked = !length;
      wanted = Number(length?.[1] ?? 0);
      chunk = chunk.subarray(end + 4);
    }
    wanted -= chunk.length;
    if (chunked) tail = Buffer.concat([tail, chunk.subarray(-5)]).subarray(-5);
    if (chunked ? !tail.equals(LAST_CHUNK) : wanted > 0) return;
    const answered = status;
    status = 0;
    tail = Buffer.alloc(0);
    onAnswer(answered);
  });
}
