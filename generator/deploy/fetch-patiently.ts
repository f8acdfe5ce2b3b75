import { request as requestPlain, type IncomingMessage } from 'node:http';
import { request as requestSecure } from 'node:https';
import { Readable } from 'node:stream';

/**
 * As `fetch`, but it waits for the answer as long as the connection lasts: `fetch` gives up after
 * five minutes, and a compose file may start many apps one after the other.
 */
export async function fetchPatiently(url: string, init: RequestInit): Promise<Response> {
  const sent = new Request(url, init);
  const body = Buffer.from(await sent.arrayBuffer());
  const answer = await send(sent, body);
  const headers = Object.entries(answer.headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  const status = answer.statusCode ?? 502;
  const isEmpty = status === 204 || status === 304;
  if (isEmpty) answer.resume();
  const stream = Readable.toWeb(answer) as unknown as ReadableStream<Uint8Array>;
  return new Response(isEmpty ? null : stream, { status, headers });
}

function send({ url, method, headers }: Request, body: Buffer): Promise<IncomingMessage> {
  const request = url.startsWith('https:') ? requestSecure : requestPlain;
  const options = {
    method,
    headers: { ...Object.fromEntries(headers), 'content-length': body.length },
  };
  return new Promise((resolve, reject) => {
    const sent = request(url, options, resolve).on('error', reject);
    // A server that is gone without a word is noticed by the connection, not by a time limit.
    sent.on('socket', (socket) => socket.setKeepAlive(true, 30_000));
    sent.end(body);
  });
}
