import type { Fields, Translated, Usage } from './dialect.ts';
import { readText } from './engine-answer.ts';
import { engineFailure } from './failures.ts';
import type { ModelLease } from './model-access.ts';
import { toText } from './request-body.ts';

/** Where the engine does not count, a message costs some tokens besides those of its text. */
const TOKENS_OF_FORM = 64;

export interface EstimateOptions {
  readonly signal: AbortSignal;
  /** The most tokens of a prompt and its answer, where the engine does not say it. */
  readonly context: number;
}

/** Counts the tokens of a prompt with the model itself. Null where the engine cannot. */
export async function countPrompt(
  { path, body }: Translated,
  { endpoint, engine }: ModelLease,
  signal: AbortSignal,
): Promise<{ readonly tokens: number; readonly context: number } | null> {
  if (engine !== 'llamacpp' || path === 'embeddings' || path === 'rerank') return null;
  const answer = await endpoint.ask({
    path: `count/${path}`,
    method: 'POST',
    body: toText({ ...body, model: endpoint.model }),
    accept: 'application/json',
    signal,
  });
  const text = await readText(answer.body);
  if (answer.status >= 400) throw engineFailure(answer.status, text);
  return JSON.parse(text) as { tokens: number; context: number };
}

/**
 * The most that a request may cost: its prompt, and `max_tokens` or what is left of the context. A
 * token has at least one byte, so the bytes of a prompt are an upper bound of its tokens.
 */
export async function estimate(
  translated: Translated,
  lease: ModelLease,
  { signal, context }: EstimateOptions,
): Promise<Usage> {
  const { path, body } = translated;
  const counted = await countPrompt(translated, lease, signal);
  const input = counted?.tokens ?? Buffer.byteLength(toText(promptOf(body))) + TOKENS_OF_FORM;
  if (path === 'embeddings' || path === 'rerank') return { input, output: 0 };
  const left = Math.max(1, (counted?.context ?? context) - input);
  const asked = body['max_completion_tokens'] ?? body['max_tokens'];
  const output = typeof asked === 'number' && asked > 0 ? asked : left;
  return { input, output: (counted ? Math.min(output, left) : output) * copies(body) };
}

const promptOf = ({ messages, prompt, tools, input, query, documents }: Fields): Fields => ({
  ...{ messages, prompt, tools, input },
  // The query is read again with each document.
  documents: Array.isArray(documents) ? documents.map((text: unknown) => [query, text]) : undefined,
});

const copies = ({ n, best_of: best }: Fields) =>
  Math.max(1, ...[n, best].filter((count) => typeof count === 'number'));

/** The request with the bound that was reserved, so that the engine cannot pass it. */
export function bounded(translated: Translated, { output }: Usage): Translated {
  const { body, path } = translated;
  const isSet = typeof (body['max_completion_tokens'] ?? body['max_tokens']) === 'number';
  if (isSet || path === 'embeddings' || path === 'rerank') return translated;
  return { ...translated, body: { ...body, max_tokens: output } };
}
