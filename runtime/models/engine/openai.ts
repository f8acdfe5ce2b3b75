import { request } from 'undici';
import { AppError, failure } from '@twofold/runtime/errors';
import type { OneEngine, RemoteModel } from './engine.ts';
import { createHttpEndpoint, type HttpEndpoint } from './http-endpoint.ts';

export interface AttachOptions {
  /** Base address of an OpenAI-compatible server, such as `http://127.0.0.1:11434/v1`, or null. */
  readonly url: string | null;
  readonly key: string | undefined;
}

const TIMEOUT = 5000;
const MAX_LIST_BYTES = 4 * 1024 * 1024;

/** Attaches to a running server, such as Ollama or vLLM, that manages its own models. */
export function createAttachedEngine({ url, key }: AttachOptions): OneEngine {
  const headers: Record<string, string> =
    key === undefined ? {} : { authorization: `Bearer ${key}` };
  let endpoint: HttpEndpoint | undefined;
  const list = async (): Promise<readonly RemoteModel[]> => {
    const { statusCode, body } = await request(`${url}/models`, {
      headers,
      headersTimeout: TIMEOUT,
      bodyTimeout: TIMEOUT,
      signal: AbortSignal.timeout(TIMEOUT),
    });
    const text = await body.text();
    if (statusCode !== 200 || text.length > MAX_LIST_BYTES)
      throw new AppError(503, 'UNAVAILABLE', `The model server answered with ${statusCode}`);
    const { data } = JSON.parse(text) as { data?: readonly { readonly id?: unknown }[] };
    return (data ?? []).flatMap(({ id }) =>
      typeof id === 'string' && id.length <= 200 ? [{ id }] : [],
    );
  };
  return {
    name: 'openai',
    formats: [],
    async eligible() {
      if (url === null)
        return 'no model server is named: set hosting.models.engine to its address, or OPENAI_BASE_URL';
      return list().then(
        () => null,
        (error: Error) =>
          `the model server at ${new URL(url).host} does not answer (${error.message})`,
      );
    },
    async start({ id }) {
      const known = await list().catch((error: unknown) => {
        throw failure.unavailable('The model server does not answer', { cause: error });
      });
      if (!known.some((model) => model.id === id))
        throw failure.notFound(`The model server has no ${id}`);
      return (endpoint = createHttpEndpoint({ url: url as string, headers, model: id }));
    },
    async stop() {
      await endpoint?.close();
      endpoint = undefined;
    },
    health: () =>
      list().then(
        () => true,
        () => false,
      ),
    models: list,
  };
}
