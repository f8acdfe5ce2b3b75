import type { Readable } from 'node:stream';
import { Agent, request } from 'undici';
import type { Endpoint } from './engine.ts';

export interface HttpEndpointOptions {
  /** The address, including `/v1`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The name of the model on that server. */
  readonly model: string;
}

/** A model behind an HTTP server. */
export interface HttpEndpoint extends Endpoint {
  /** Closes the running requests. */
  close(): Promise<void>;
}

/** Milliseconds to wait for headers. Without streaming they arrive when the answer is complete. */
const HEADERS_TIMEOUT = 15 * 60_000;

export function createHttpEndpoint({ url, headers, model }: HttpEndpointOptions): HttpEndpoint {
  const agent = new Agent({
    headersTimeout: HEADERS_TIMEOUT,
    bodyTimeout: 0,
    pipelining: 1,
    connections: 256,
  });
  return {
    model,
    async ask({ method, path, body, accept, signal }) {
      const json = body === null ? {} : { 'content-type': 'application/json' };
      const answer = await request(`${url}/${path}`, {
        method,
        signal,
        dispatcher: agent,
        headers: { ...headers, accept, ...json },
        body,
      });
      const entries = Object.entries(answer.headers).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, String(value)]],
      );
      return {
        status: answer.statusCode,
        headers: Object.fromEntries(entries) as Record<string, string>,
        body: answer.body as Readable,
      };
    },
    close: () => agent.destroy(),
  };
}
