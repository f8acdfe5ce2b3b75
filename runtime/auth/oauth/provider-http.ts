import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Socket } from 'node:net';
import { request } from 'undici';
import { AppError, InternalError } from '@twofold/runtime/errors';

/** Milliseconds that a whole call to a provider may take. */
export const TIME_LIMIT = 5000;
const JSON_BYTES = 64 * 1024;
const TOKEN_BYTES = 256 * 1024;

/** A 502 response. The provider's error is logged, and the response does not contain it. */
export function providerError(cause: unknown): AppError {
  return new AppError(502, 'OAUTH_PROVIDER_ERROR', 'OAuth provider error', { cause });
}

/** Gets JSON from a provider: 5 s, 64 KiB, no redirects. @throws AppError 502 */
export async function fetchJson(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<unknown> {
  try {
    const response = await request(url, {
      headers: { accept: 'application/json', 'user-agent': 'twofold', ...headers },
      signal: AbortSignal.timeout(TIME_LIMIT),
    });
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of response.body as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > JSON_BYTES) throw new InternalError('the answer of a provider is too large');
      chunks.push(chunk);
    }
    if (response.statusCode !== 200)
      throw new InternalError(`a provider answered ${response.statusCode}`);
    return parseExact(Buffer.concat(chunks).toString('utf8'));
  } catch (error) {
    throw providerError(error);
  }
}

/**
 * Parses JSON whose integers stay exact: one that a number of JavaScript cannot hold becomes the text
 * of its digits. A provider may have given both 9007199254740992 and 9007199254740993 to a user.
 * Other spellings of whole numbers (`1e3`, `1.0`) are no digits to compare, and become null.
 */
export function parseExact(text: string): unknown {
  return JSON.parse(
    text.replaceAll(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (token) => {
      if (token.startsWith('"') || !Number.isInteger(Number(token))) return token;
      if (!/^-?\d+$/.test(token)) return 'null';
      return Number.isSafeInteger(Number(token)) ? token : `"${token}"`;
    }),
  );
}

/** Runs `work` with sockets that close after 5 s or 256 KiB, because grant has no limits. */
export async function withBoundedAgent<T>(
  url: string,
  work: (agent: HttpAgent) => Promise<T>,
): Promise<T> {
  const sockets = new Set<Socket>();
  const agent = url.startsWith('https:') ? new HttpsAgent() : new HttpAgent();
  const create = agent.createConnection.bind(agent) as (...args: unknown[]) => Socket;
  agent.createConnection = ((...args: unknown[]) => {
    const socket = create(...args);
    sockets.add(socket);
    return socket;
  }) as never;
  const destroy = () =>
    sockets.forEach((socket) =>
      socket.destroy(new InternalError('the answer of a provider is too large or too slow')),
    );
  const watch = setInterval(
    () => [...sockets].some(({ bytesRead }) => bytesRead > TOKEN_BYTES) && destroy(),
    10,
  );
  const limit = setTimeout(destroy, TIME_LIMIT);
  try {
    return await work(agent);
  } finally {
    clearInterval(watch);
    clearTimeout(limit);
    agent.destroy();
  }
}
