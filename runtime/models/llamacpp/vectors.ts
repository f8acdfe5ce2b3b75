import type * as Library from 'node-llama-cpp';
import { ApiFailure, invalid } from './failure.ts';

/** A text, or its tokens. */
export type VectorInput = string | readonly number[];

/** What a model says about texts without writing one. */
export interface Vectors {
  /** The vector of a text, of length 1. The same text gives the same vector. */
  embed(input: VectorInput, signal: AbortSignal): Promise<Counted<readonly number[]>>;
  /** How well each document answers the query, from 0 to 1. */
  rank(
    query: string,
    documents: readonly string[],
    signal: AbortSignal,
  ): Promise<Counted<readonly number[]>>;
}

export interface Counted<Value> {
  readonly value: Value;
  /** Tokens that the model has read. */
  readonly tokens: number;
}

/** Characters of a token are at most so many, so a longer text cannot fit. */
const MAX_TOKEN_LENGTH = 64;

/** The contexts are made with the first request, because they need memory of their own. */
export function createVectors(model: Library.LlamaModel, size: number): Vectors {
  const contextSize = { max: Math.min(size, model.trainContextSize) };
  let embedding: Promise<Library.LlamaEmbeddingContext> | undefined;
  let ranking: Promise<Library.LlamaRankingContext> | undefined;
  return {
    async embed(input, signal) {
      assertLength(input, contextSize.max, 'input');
      const context = await (embedding ??= model.createEmbeddingContext({ contextSize }));
      const tokens = typeof input === 'string' ? model.tokenize(input) : toTokens(model, input);
      const count = context.calculateInputLength([...tokens]);
      if (count >= contextSize.max) throw tooLong(contextSize.max, 'input');
      signal.throwIfAborted();
      const { vector } = await context.getEmbeddingFor(tokens);
      return { value: toUnitLength(vector), tokens: count };
    },
    async rank(query, documents, signal) {
      for (const text of [query, ...documents]) assertLength(text, contextSize.max, 'documents');
      const context = await (ranking ??= createRanking(model, contextSize));
      const counts = documents.map((document) => context.calculateInputLength(query, document));
      if (counts.some((count) => count >= contextSize.max))
        throw tooLong(contextSize.max, 'documents');
      const scores: number[] = [];
      for (const document of documents) {
        signal.throwIfAborted();
        scores.push(await context.rank(query, document));
      }
      return { value: scores, tokens: counts.reduce((sum, count) => sum + count, 0) };
    },
  };
}

function createRanking(
  model: Library.LlamaModel,
  contextSize: { readonly max: number },
): Promise<Library.LlamaRankingContext> {
  if (!model.fileInsights.supportsRanking)
    throw invalid('model', 'cannot rank documents with the llamacpp engine: take a rerank model');
  return model.createRankingContext({ contextSize });
}

function toTokens(model: Library.LlamaModel, input: readonly number[]): Library.Token[] {
  const last = model.fileInfo.metadata.tokenizer.ggml.tokens.length;
  if (input.every((token) => Number.isInteger(token) && token >= 0 && token < last))
    return [...input] as Library.Token[];
  throw invalid('input', `has a token that the model does not know: it has 0 to ${last - 1}`);
}

function assertLength(input: VectorInput, limit: number, param: string): void {
  if (input.length > limit * (typeof input === 'string' ? MAX_TOKEN_LENGTH : 1))
    throw tooLong(limit, param);
}

const tooLong = (limit: number, param: string) =>
  new ApiFailure(400, `${param} is longer than the ${limit} tokens that the context holds`, {
    param,
    code: 'context_length_exceeded',
  });

function toUnitLength(vector: readonly number[]): readonly number[] {
  const length = Math.hypot(...vector);
  return length === 0 ? vector : vector.map((value) => value / length);
}
