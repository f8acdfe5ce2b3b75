import type { Principal } from '../../runtime/core/context/request-context.ts';
import { createRest } from '../../runtime/core/rest/index.ts';
import { startServer, type TestOptions, type TestServer } from '../graphql/harness.ts';
import { createConformance } from './conformance.ts';

export { databases, projectOf, user } from '../graphql/harness.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; null when there is none. */
  readonly body: any;
}

export interface Sending {
  readonly as?: Principal;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Throws where an answer is not as the document says; servers of one project may share it. */
type Conforms = ReturnType<typeof createConformance>;

export interface RestServer extends TestServer {
  call(method: string, path: string, sending?: Sending): Promise<Answer>;
  get(path: string, as?: Principal): Promise<Answer>;
}

/**
 * A server with GraphQL and REST over one database. Principals travel in a header; who they are is the auth module's matter.
 * Every answer is held to the server's own document.
 */
export async function startRest(
  sdl: string,
  options: TestOptions & { readonly conforms?: Conforms } = {},
): Promise<RestServer> {
  const { resolvers } = options;
  const server = await startServer(sdl, {
    ...options,
    manifest: options.manifest ?? 'name: test\napi:\n  rest: true\n',
    also: (kernel, { service: { engine } }) => createRest({ kernel, engine }),
  });
  const conforms = options.conforms ?? createConformance(server.project, resolvers);
  const call = async (method: string, path: string, sending: Sending = {}) => {
    const answer = await send(server, method, path, sending);
    conforms({
      method,
      path: path.split('?')[0] as string,
      status: answer.status,
      body: answer.body,
    });
    return answer;
  };
  return { ...server, call, get: (path, as) => call('GET', path, as && { as }) };
}

async function send(
  { url, fetch: ask }: TestServer,
  method: string,
  path: string,
  { as, body, headers = {} }: Sending,
): Promise<Answer> {
  const response = await ask(url + path, {
    method,
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(as && { 'x-test-principal': JSON.stringify(as) }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: text === '' ? null : parse(text),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** An API key without a user. */
export const key = (...scopes: string[]): Principal => ({
  kind: 'api_key',
  id: 'k',
  scopes,
  userId: null,
});
