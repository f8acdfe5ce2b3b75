import { answersOf, assertCountable, limitOf, promptOf } from './countable.ts';
import type { Fields, Translated, Usage } from './dialect.ts';
import { readText } from './engine-answer.ts';
import { engineFailure } from './failures.ts';
import type { ModelLease } from './model-access.ts';
import { toText } from './request-body.ts';

/** The template of a chat has some tokens of its own, such as the system's message of a model. */
const TOKENS_OF_TEMPLATE = 64;

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

/** The most that a request may cost. */
export interface Estimate extends Usage {
  /** The most tokens of each of its answers. */
  readonly limit: number;
}

/**
 * The most that a request may cost: its prompt, and `max_tokens` or what is left of the context for
 * each answer. A token has at least one byte, so the bytes of a request are an upper bound of the
 * tokens of its prompt.
 *
 * @throws AppError 400 when it cannot be known
 */
export async function estimate(
  translated: Translated,
  lease: ModelLease,
  { signal, context }: EstimateOptions,
): Promise<Estimate> {
  const { path, body } = translated;
  const counted = await countPrompt(translated, lease, signal);
  // llama.cpp refuses what it does not know itself.
  if (lease.engine !== 'llamacpp') assertCountable(body);
  const input =
    counted?.tokens ?? bytesOf(body) + (path === 'chat/completions' ? TOKENS_OF_TEMPLATE : 0);
  if (path === 'embeddings' || path === 'rerank') return { input, output: 0, limit: 0 };
  const left = Math.max(1, (counted?.context ?? context) - input);
  const asked = limitOf(translated) ?? left;
  const limit = counted ? Math.min(asked, left) : asked;
  return { input, output: limit * answersOf(translated), limit };
}

/**
 * The bytes of a prompt as JSON, whose marks are more than the tokens around each text. The query
 * counts with each document, because it is read again there.
 */
function bytesOf(body: Fields): number {
  const { query, documents, ...others } = promptOf(body);
  const pairs = Array.isArray(documents) ? documents.map((text: unknown) => [query, text]) : [];
  const texts = Object.values({ ...others, pairs }).map((each) => toText([each]));
  return Buffer.byteLength(texts.join(''));
}

/** The request with the bound that was reserved, so that the engine cannot pass it. */
export function bounded(translated: Translated, { limit }: Estimate): Translated {
  const { body, path } = translated;
  if (path === 'embeddings' || path === 'rerank' || limitOf(translated) !== null) return translated;
  return { ...translated, body: { ...body, max_tokens: limit } };
}
