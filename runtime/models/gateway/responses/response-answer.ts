import { randomUUID } from 'node:crypto';
import type { AppError } from '@twofold/runtime/errors';
import {
  type ChatAnswer,
  type ChatChunk,
  type EventWriter,
  type Fields,
  goesOn,
  namedEvent,
  type Piece,
  piecesOf,
  type Usage,
} from '../dialect.ts';

/** An id with the prefix that clients expect. */
const newId = (prefix: string): string => `${prefix}_${randomUUID().replaceAll('-', '')}`;

interface ResponseParts {
  readonly answer: ChatAnswer;
  readonly usage: Usage;
  readonly model: string;
}

/** A whole answer of the Responses API. */
export function responseObject(fields: Fields, { answer, usage, model }: ResponseParts): Fields {
  const choice = answer.choices[0];
  const output = piecesOf(choice?.message).map((piece) => itemOf(newItem(piece, 0, '{}')));
  const reason = choice?.finish_reason ?? 'stop';
  return finished(headOf(fields, model), { output, usage, reason });
}

/** A response that has not ended, with the settings of its request. */
function headOf(fields: Fields, model: string): Fields {
  return {
    id: newId('resp'),
    object: 'response',
    created_at: Math.floor(Date.now() / 1000),
    status: 'in_progress',
    error: null,
    incomplete_details: null,
    instructions: fields['instructions'] ?? null,
    max_output_tokens: fields['max_output_tokens'] ?? null,
    metadata: fields['metadata'] ?? {},
    model,
    output: [],
    parallel_tool_calls: fields['parallel_tool_calls'] ?? true,
    previous_response_id: null,
    reasoning: fields['reasoning'] ?? { effort: null, summary: null },
    store: false,
    temperature: fields['temperature'] ?? null,
    text: fields['text'] ?? { format: { type: 'text' } },
    tool_choice: fields['tool_choice'] ?? 'auto',
    tools: fields['tools'] ?? [],
    top_p: fields['top_p'] ?? null,
    truncation: 'disabled',
    usage: null,
    user: fields['user'] ?? null,
  };
}

interface Ended {
  readonly output: readonly object[];
  readonly usage: Usage;
  readonly reason: string;
}

/** A response that has ended. */
function finished(head: Fields, { output, usage, reason }: Ended): Fields {
  const isCut = reason === 'length';
  return {
    ...head,
    status: isCut ? 'incomplete' : 'completed',
    incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
    output,
    usage: {
      input_tokens: usage.input,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: usage.output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: usage.input + usage.output,
    },
  };
}

/** An item of an answer, which grows. */
interface Item extends Omit<Piece, 'text' | 'id'> {
  readonly id: string;
  readonly call_id: string;
  readonly index: number;
  text: string;
}

const PREFIXES = { text: 'msg', thought: 'rs', call: 'fc' } as const;

/** @param none the arguments of a call that has none */
const newItem = ({ kind, at, id, name, text }: Piece, index: number, none = ''): Item => ({
  ...{ kind, at, name, index, text: text || none },
  id: newId(PREFIXES[kind]),
  call_id: id ?? (kind === 'call' ? newId('call') : ''),
});

const textPart = (text: string) => ({ type: 'output_text', text, annotations: [] });

function itemOf({ kind, id, text, call_id, name }: Item): object {
  const status = 'completed';
  if (kind === 'call') return { id, type: 'function_call', status, call_id, name, arguments: text };
  if (kind === 'thought')
    return { id, type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text }] };
  return { id, type: 'message', role: 'assistant', status, content: [textPart(text)] };
}

/** The events of the pieces of an item. */
const GROWS = {
  text: 'response.output_text',
  thought: 'response.reasoning_text',
  call: 'response.function_call_arguments',
} as const;

/** Writes the events of the Responses API: each item is opened, grows and is closed. */
export class ResponseEvents implements EventWriter {
  readonly #head: Fields;
  readonly #output: object[] = [];
  #open: Item | null = null;
  #number = 0;
  #reason = 'stop';
  #begun = false;

  constructor(fields: Fields, model: string) {
    this.#head = headOf(fields, model);
  }

  chunk({ choices }: ChatChunk): string {
    const [choice] = choices ?? [];
    if (!choice) return '';
    if (choice.finish_reason) this.#reason = choice.finish_reason;
    const pieces = piecesOf(choice.delta);
    return this.#begin() + pieces.map((piece) => this.#add(piece)).join('');
  }

  end(usage: Usage): string {
    const closed = this.#begin() + this.#close();
    const response = finished(this.#head, { output: this.#output, usage, reason: this.#reason });
    return closed + this.#event(`response.${String(response['status'])}`, { response });
  }

  fail({ message, code }: AppError): string {
    const error = {
      code: code === 'RATE_LIMITED' ? 'rate_limit_exceeded' : 'server_error',
      message,
    };
    const response = { ...this.#head, status: 'failed', error, output: this.#output };
    return this.#begin() + this.#event('response.failed', { response });
  }

  #event(type: string, data: object): string {
    return namedEvent(type, { sequence_number: this.#number++, ...data });
  }

  #begin(): string {
    if (this.#begun) return '';
    this.#begun = true;
    const response = this.#head;
    return (
      this.#event('response.created', { response }) +
      this.#event('response.in_progress', { response })
    );
  }

  #add(piece: Piece): string {
    const opened = goesOn(this.#open, piece) ? '' : this.#openItem(piece);
    if (!this.#open || piece.text === '') return opened;
    this.#open.text += piece.text;
    const grown = { ...placeOf(this.#open), delta: piece.text };
    return opened + this.#event(`${GROWS[piece.kind]}.delta`, grown);
  }

  #openItem(piece: Piece): string {
    const closed = this.#close();
    const open = newItem({ ...piece, text: '' }, this.#output.length);
    this.#open = open;
    const item = {
      ...itemOf(open),
      status: 'in_progress',
      ...(open.kind !== 'call' && { content: [] }),
    };
    const added = this.#event('response.output_item.added', { output_index: open.index, item });
    if (open.kind !== 'text') return closed + added;
    const part = { ...placeOf(open), part: textPart('') };
    return closed + added + this.#event('response.content_part.added', part);
  }

  #close(): string {
    const open = this.#open;
    if (!open) return '';
    this.#open = null;
    const { kind, text, name, index } = open;
    const item = itemOf(open);
    this.#output.push(item);
    const whole = kind === 'call' ? { name, arguments: text } : { text };
    const done = this.#event(`${GROWS[kind]}.done`, { ...placeOf(open), ...whole });
    const part =
      kind === 'text'
        ? this.#event('response.content_part.done', { ...placeOf(open), part: textPart(text) })
        : '';
    return done + part + this.#event('response.output_item.done', { output_index: index, item });
  }
}

/** Where a piece belongs. A call has no parts. */
const placeOf = ({ kind, id, index }: Item) => ({
  item_id: id,
  output_index: index,
  ...(kind !== 'call' && { content_index: 0 }),
});
