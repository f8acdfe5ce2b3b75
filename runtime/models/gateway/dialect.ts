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
  readonly delta?: Said;
  readonly text?: string;
  readonly finish_reason?: string | null;
  /** The stop text that ended the answer, where the engine says it. */
  readonly stop_reason?: unknown;
}

/** A whole chat completion, as an engine sends it. */
export interface ChatAnswer {
  readonly choices: readonly {
    readonly message: Said;
    readonly finish_reason: string | null;
    readonly stop_reason?: unknown;
  }[];
}

/** A message of a model, or the part of it that a chunk adds. */
interface Said {
  readonly content?: string | null;
  readonly reasoning_content?: string | null;
  /** The same, in the words of `mlx_lm.server` and of newer vLLM. */
  readonly reasoning?: string | null;
  readonly tool_calls?:
    | readonly {
        readonly index?: number;
        readonly id?: string;
        readonly function?: { readonly name?: string; readonly arguments?: string };
      }[]
    | null;
}

/** A piece of what a model says. Pieces of the same kind and place belong together. */
export interface Piece {
  readonly kind: 'thought' | 'text' | 'call';
  /** Of a call: its place among the calls of the answer. */
  readonly at: number;
  /** Of a call: its arguments as JSON. */
  readonly text: string;
  readonly id?: string | undefined;
  readonly name: string;
}

/** What a model says, in the order in which answers tell it. */
export function piecesOf(said: Said = {}): readonly Piece[] {
  const { content, reasoning_content: thought, tool_calls: calls } = said;
  const piece = (kind: Piece['kind'], text: string): Piece => ({ kind, text, at: 0, name: '' });
  return [
    ...(thought ? [piece('thought', thought)] : []),
    ...(content ? [piece('text', content)] : []),
    ...(calls ?? []).map(({ index, id, function: called }, place): Piece => ({
      ...piece('call', called?.arguments ?? ''),
      ...{ at: index ?? place, id, name: called?.name ?? '' },
    })),
  ];
}

/** Whether a piece goes on with what is open. */
export const goesOn = (open: Pick<Piece, 'kind' | 'at'> | null, { kind, at }: Piece): boolean =>
  open?.kind === kind && open.at === at;

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
