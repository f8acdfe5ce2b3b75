import type { AppError } from '@twofold/runtime/errors';
import type { ChatChunk, EventWriter, Fields, Translated, Usage } from './dialect.ts';
import { errorBody, malformed } from './failures.ts';

/** `/chat/completions` and `/completions`: engines speak this dialect themselves. */
export function readCompletion(path: 'chat/completions' | 'completions', body: Fields): Translated {
  const stream = body['stream'] === true;
  const options = (body['stream_options'] ?? {}) as Fields;
  const asked = options['include_usage'] === true;
  if (!stream && asked) throw malformed('stream_options', 'needs stream');
  return {
    path,
    stream,
    body,
    whole: (answer, usage, model) => ({ ...answer, model, usage: openAiUsage(answer, usage) }),
    events: (model) => new CompletionEvents(model, asked),
  };
}

/** `/embeddings` and `/rerank`. */
export function readVectors(path: 'embeddings' | 'rerank', body: Fields): Translated {
  if (body['stream'] === true) throw malformed('stream', 'is not supported');
  return {
    path,
    stream: false,
    body: path === 'rerank' ? rankBody(body) : body,
    whole: (answer, usage, model) =>
      path === 'rerank'
        ? rankAnswer(answer, { body, usage, model })
        : { ...answer, model, usage: vectorUsage(usage) },
    events: (model) => new CompletionEvents(model, false),
  };
}

/** The engine ranks all documents, and the answer has the best of them with their texts. */
function rankBody({ top_n: top = 1, return_documents: _with, ...body }: Fields): Fields {
  const { documents } = body;
  const isList = Array.isArray(documents) && documents.length > 0;
  if (!isList) throw malformed('documents', 'must be a list of texts');
  // Not after the engine has worked: a request that fails costs no tokens.
  if (!Number.isInteger(top ?? 1) || Number(top ?? 1) < 1)
    throw malformed('top_n', 'must be a number from 1');
  return body;
}

interface Ranked {
  readonly index: number;
  readonly relevance_score: number;
}

function rankAnswer(
  answer: Fields,
  { body, usage, model }: { readonly body: Fields; readonly usage: Usage; readonly model: string },
): object {
  const documents = body['documents'] as readonly unknown[];
  const top = body['top_n'] ?? documents.length;
  const results = ((answer['results'] ?? answer['data'] ?? []) as readonly Ranked[])
    .map(({ index, relevance_score }) => ({
      index,
      relevance_score,
      ...(body['return_documents'] === true && { document: asDocument(documents[index]) }),
    }))
    .toSorted((a, b) => b.relevance_score - a.relevance_score || a.index - b.index)
    .slice(0, Number(top));
  return { model, results, usage: vectorUsage(usage) };
}

const asDocument = (document: unknown) =>
  typeof document === 'string' ? { text: document } : document;

const vectorUsage = ({ input }: Usage) => ({ prompt_tokens: input, total_tokens: input });

/** The engine's own usage, with its details, or ours where it says none. */
function openAiUsage(answer: Fields, { input, output }: Usage): object {
  const own = answer['usage'] as object | null | undefined;
  const counted = {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
  };
  return own ?? counted;
}

/**
 * Passes the chunks of an engine on. Usage comes in an event of its own where the caller asks for
 * it, and otherwise with the event that ends the answer.
 */
class CompletionEvents implements EventWriter {
  readonly #model: string;
  readonly #withUsage: boolean;
  #last: ChatChunk | null = null;
  #usage: unknown = null;

  constructor(model: string, withUsage: boolean) {
    this.#model = model;
    this.#withUsage = withUsage;
  }

  chunk(chunk: ChatChunk): string {
    if (chunk.usage) this.#usage = chunk.usage;
    if (!chunk.choices?.length) return '';
    const { usage: _usage, ...named } = { ...chunk, model: this.#model };
    if (!named.choices?.some(({ finish_reason: reason }) => reason)) return event(named);
    const before = this.#last ? event(this.#last) : '';
    this.#last = named;
    return before;
  }

  end(usage: Usage): string {
    const counted = openAiUsage({ usage: this.#usage }, usage);
    const last = this.#last ?? { choices: [] };
    if (!this.#withUsage) return `${event({ ...last, usage: counted })}data: [DONE]\n\n`;
    const own = event({ ...last, choices: [], usage: counted });
    return `${this.#last ? event(last) : ''}${own}data: [DONE]\n\n`;
  }

  fail(error: AppError): string {
    return event(errorBody('openai', error));
  }
}

const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`;
