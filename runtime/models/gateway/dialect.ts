import type { AppError } from '@twofold/runtime/errors';
import { unsupported } from './failures.ts';

/** The fields of a JSON object. */
export type Fields = Readonly<Record<string, unknown>>;

/** Tokens that a request has used. */
export interface Usage {
  readonly input: number;
  readonly output: number;
}

/** A chunk of a streamed chat completion, as an engine sends it. */
export interface ChatChunk {
  readonly model?: string;
  readonly choices?: readonly ChunkChoice[];
  readonly usage?: unknown;
  readonly error?: { readonly message?: unknown };
}

export interface ChunkChoice {
  readonly index?: number;
  readonly delta?: {
    readonly content?: string | null;
    readonly reasoning_content?: string | null;
    /** The same, in the words of `mlx_lm.server` and of newer vLLM. */
    readonly reasoning?: string | null;
    readonly tool_calls?: readonly CallDelta[];
  };
  readonly text?: string;
  readonly finish_reason?: string | null;
  /** The stop text that ended the answer, where the engine says it. */
  readonly stop_reason?: unknown;
}

export interface CallDelta {
  readonly index: number;
  readonly id?: string;
  readonly function?: { readonly name?: string; readonly arguments?: string };
}

/** A whole chat completion, as an engine sends it. */
export interface ChatAnswer {
  readonly choices: readonly {
    readonly message: {
      readonly content?: string | null;
      readonly reasoning_content?: string | null;
      readonly tool_calls?: readonly CallDelta[] | null;
    };
    readonly finish_reason: string | null;
    readonly stop_reason?: unknown;
  }[];
}

/** A request in the words of the engine, and how its answer is told to the caller. */
export interface Translated {
  readonly path: 'chat/completions' | 'completions' | 'embeddings' | 'rerank';
  /** Without `model`, which depends on the engine. */
  readonly body: Fields;
  readonly stream: boolean;
  /** The field of the caller's request that a field of `body` comes from, where its name differs. */
  named?(field: string): string;
  /** @param model the id of the model that answered */
  whole(answer: Fields, usage: Usage, model: string): object;
  events(model: string): EventWriter;
}

/** Writes the events of one streamed answer. */
export interface EventWriter {
  chunk(chunk: ChatChunk): string;
  end(usage: Usage): string;
  fail(error: AppError): string;
}

/** Refuses a field that is set and would be ignored. */
export function assertOnly(fields: Fields, known: ReadonlySet<string>, engine?: string): void {
  const strange = Object.keys(fields).find(
    (name) => !known.has(name) && fields[name] !== null && fields[name] !== undefined,
  );
  if (strange !== undefined) throw unsupported(strange, engine);
}

/** One event of a stream with a name. */
export const namedEvent = (type: string, data: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;

/** The members that are set. */
export function present(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  );
}
