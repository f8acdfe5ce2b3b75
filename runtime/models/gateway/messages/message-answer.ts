import { randomUUID } from 'node:crypto';
import type { AppError } from '@twofold/runtime/errors';
import {
  type ChatAnswer,
  type ChatChunk,
  type EventWriter,
  goesOn,
  namedEvent,
  type Piece,
  piecesOf,
  type Usage,
} from '../dialect.ts';
import { errorBody } from '../failures.ts';

interface MessageParts {
  readonly answer: ChatAnswer;
  readonly usage: Usage;
  readonly model: string;
  /** The stop sequences of the request. */
  readonly stops: readonly string[];
}

/** A whole answer of the Messages API. */
export function messageObject({ answer, usage, model, stops }: MessageParts): object {
  const choice = answer.choices[0];
  return {
    ...headOf(model),
    content: piecesOf(choice?.message).filter(isTold).map(wholeBlock),
    ...stopOf(choice?.finish_reason ?? null, choice?.stop_reason, stops),
    usage: usageOf(usage),
  };
}

/** This API has signed thoughts only, so those of a model are not told. */
const isTold = ({ kind }: Piece) => kind !== 'thought';

/** The block of a piece, before its text. */
const blockOf = ({ kind, id = `toolu_${randomUUID()}`, name }: Piece) =>
  kind === 'text' ? { type: 'text', text: '' } : { type: 'tool_use', id, name, input: {} };

const wholeBlock = (piece: Piece) => ({
  ...blockOf(piece),
  ...(piece.kind === 'text' ? { text: piece.text } : { input: parseArguments(piece.text) }),
});

const headOf = (model: string) => ({
  id: `msg_${randomUUID().replaceAll('-', '')}`,
  type: 'message',
  role: 'assistant',
  model,
});

const usageOf = ({ input, output }: Usage) => ({
  input_tokens: input,
  output_tokens: output,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
});

/** Why an answer ended, in Anthropic's words. */
function stopOf(reason: string | null, stop: unknown, stops: readonly string[]) {
  if (typeof stop === 'string' && stops.includes(stop))
    return { stop_reason: 'stop_sequence', stop_sequence: stop };
  const reasons: Readonly<Record<string, string>> = {
    length: 'max_tokens',
    tool_calls: 'tool_use',
  };
  return { stop_reason: reasons[reason ?? ''] ?? 'end_turn', stop_sequence: null };
}

/** The arguments of a call that was cut are no JSON; the client then gets none of them. */
function parseArguments(text: string): unknown {
  try {
    return text === '' ? {} : JSON.parse(text);
  } catch {
    return {};
  }
}

/** Writes the events of the Messages API: blocks are opened, grow and are closed. */
export class MessageEvents implements EventWriter {
  readonly #model: string;
  readonly #stops: readonly string[];
  #begun = false;
  #index = -1;
  #open: Piece | null = null;
  #reason: string | null = null;
  #stop: unknown = null;

  constructor(model: string, stops: readonly string[]) {
    this.#model = model;
    this.#stops = stops;
  }

  chunk({ choices }: ChatChunk): string {
    const [choice] = choices ?? [];
    if (!choice) return '';
    if (choice.finish_reason) {
      this.#reason = choice.finish_reason;
      this.#stop = choice.stop_reason;
    }
    const told = piecesOf(choice.delta).filter(isTold);
    return this.#begin() + told.map((piece) => this.#add(piece)).join('');
  }

  end(usage: Usage): string {
    const delta = stopOf(this.#reason, this.#stop, this.#stops);
    return [
      this.#begin(),
      this.#close(),
      namedEvent('message_delta', { delta, usage: usageOf(usage) }),
      namedEvent('message_stop', {}),
    ].join('');
  }

  fail(error: AppError): string {
    return namedEvent('error', errorBody('anthropic', error));
  }

  /** The tokens of the prompt are known at the end only; the last event has them. */
  #begin(): string {
    if (this.#begun) return '';
    this.#begun = true;
    const message = {
      ...headOf(this.#model),
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: usageOf({ input: 0, output: 0 }),
    };
    return namedEvent('message_start', { message });
  }

  #add(piece: Piece): string {
    const opened = goesOn(this.#open, piece) ? '' : this.#openBlock(piece);
    if (piece.text === '') return opened;
    const delta =
      piece.kind === 'text'
        ? { type: 'text_delta', text: piece.text }
        : { type: 'input_json_delta', partial_json: piece.text };
    return opened + namedEvent('content_block_delta', { index: this.#index, delta });
  }

  #openBlock(piece: Piece): string {
    const closed = this.#close();
    this.#open = piece;
    this.#index += 1;
    const block = { index: this.#index, content_block: blockOf(piece) };
    return closed + namedEvent('content_block_start', block);
  }

  #close(): string {
    if (this.#open === null) return '';
    this.#open = null;
    return namedEvent('content_block_stop', { index: this.#index });
  }
}
