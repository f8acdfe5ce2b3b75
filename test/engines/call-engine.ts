import { request } from 'node:http';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

/** One call of an engine's HTTP API. */
export interface EngineCall {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  /** Path and query, such as `/containers/json?all=1`. */
  readonly path: string;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as a tar archive. */
  readonly tar?: Buffer | Readable;
}

/** What the engine answered. */
export interface EngineAnswer {
  readonly status: number;
  readonly text: string;
  readonly bytes: Buffer;
}

/**
 * Calls an engine over its socket, without a client library: the tests of the library need something to compare with.
 *
 * @example
 * const { Id } = await engineJson(socket, { method: 'POST', path: '/containers/create', json: { Image: 'twofold-test/web:1' } });
 */
export function callEngine(
  socketPath: string,
  { method = 'GET', path, json, tar }: EngineCall,
): Promise<EngineAnswer> {
  const headers = json
    ? { 'content-type': 'application/json' }
    : tar
      ? { 'content-type': 'application/x-tar' }
      : {};
  return new Promise((resolve, reject) => {
    const call = request({ socketPath, method, path, headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk)).once('error', reject);
      answer.once('end', () => {
        const bytes = Buffer.concat(chunks);
        resolve({ status: answer.statusCode ?? 0, text: bytes.toString(), bytes });
      });
    });
    call.once('error', reject);
    if (tar && !Buffer.isBuffer(tar)) tar.once('error', reject).pipe(call);
    else call.end(tar ?? (json ? JSON.stringify(json) : undefined));
  });
}

/** Podman's answer to a list of images while one of them is being removed. */
const RACE = /image not known|layer not known/;
const MAX_ATTEMPTS = 6;

/** The same, with the answer parsed; an answer of 400 and above is an error. */
export async function engineJson<Answer = unknown>(
  socketPath: string,
  call: EngineCall,
  attempt = 1,
): Promise<Answer> {
  const { status, text } = await callEngine(socketPath, call);
  if (status >= 500 && RACE.test(text) && attempt < MAX_ATTEMPTS) {
    await sleep(100 * attempt);
    return engineJson(socketPath, call, attempt + 1);
  }
  if (status >= 400)
    throw new Error(
      `${call.method ?? 'GET'} ${call.path} on ${socketPath}: ${status} ${text.trim()}`,
    );
  return (text ? JSON.parse(text) : undefined) as Answer;
}

/** Whether an engine answers on this socket. */
export async function answers(socketPath: string): Promise<boolean> {
  try {
    return (await callEngine(socketPath, { path: '/_ping' })).status === 200;
  } catch {
    return false;
  }
}
