import { randomUUID } from 'node:crypto';
import type { AppError } from '@twofold/runtime/errors';
import {
  type CallDelta,
  type ChatChunk,
  type EventWriter,
  namedEvent,
  type Usage,
} from '../dialect.ts';
import { errorBody } from '../failures.ts';
import { messageHead, messageUsage, stopOf } from './message-object.ts';

/** Writes the events of the Messages API: blocks are opened, grow and are closed. */
export class MessageEvents implements EventWriter {
  readonly #model: string;
  readonly #stops: readonly string[];
  #begun = false;
  #index = -1;
  /** What is open: text, or the call of this number. */
  #open: 'text' | number | null = null;
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
    const { content, tool_calls: calls } = choice.delta ?? {};
    return [
      this.#begin(),
      content ? this.#text(content) : '',
      ...(calls ?? []).map((call) => this.#call(call)),
    ].join('');
  }

  end(usage: Usage): string {
    const delta = stopOf(this.#reason, this.#stop, this.#stops);
    return [
      this.#begin(),
      this.#close(),
      namedEvent('message_delta', { delta, usage: messageUsage(usage) }),
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
      ...messageHead(this.#model),
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: messageUsage({ input: 0, output: 0 }),
    };
    return namedEvent('message_start', { message });
  }

  #text(text: string): string {
    const opened = this.#open === 'text' ? '' : this.#openBlock('text', { type: 'text', text: '' });
    return opened + this.#delta({ type: 'text_delta', text });
  }

  #call({ index, id, function: called }: CallDelta): string {
    const block = {
      type: 'tool_use',
      id: id ?? `toolu_${randomUUID()}`,
      name: called?.name ?? '',
      input: {},
    };
    const opened = this.#open === index ? '' : this.#openBlock(index, block);
    const json = called?.arguments ?? '';
    return json === ''
      ? opened
      : opened + this.#delta({ type: 'input_json_delta', partial_json: json });
  }

  #openBlock(kind: 'text' | number, block: object): string {
    const closed = this.#close();
    this.#open = kind;
    this.#index += 1;
    return closed + namedEvent('content_block_start', { index: this.#index, content_block: block });
  }

  #delta(delta: object): string {
    return namedEvent('content_block_delta', { index: this.#index, delta });
  }

  #close(): string {
    if (this.#open === null) return '';
    this.#open = null;
    return namedEvent('content_block_stop', { index: this.#index });
  }
}
