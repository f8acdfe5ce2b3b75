import type { Readable } from 'node:stream';
import { Agent, request } from 'undici';
import type { Endpoint } from './engine.ts';

export interface HttpEndpointOptions {
  /** Up to and with `/v1`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** What the server calls the model. */
  readonly model: string;
}

/** A model behind a server that speaks HTTP. */
export interface HttpEndpoint extends Endpoint {
  /** Cuts what is going on. */
  close(): Promise<void>;
}

/** A long answer that is not streamed says nothing until it is done. */
const HEADERS = 15 * 60_000;

export function createHttpEndpoint({ url, headers, model }: HttpEndpointOptions): HttpEndpoint {
  const agent = new Agent({
    headersTimeout: HEADERS,
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
