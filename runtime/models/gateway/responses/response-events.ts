import type { AppError } from '@twofold/runtime/errors';
import type { CallDelta, ChatChunk, EventWriter, Fields, Usage } from '../dialect.ts';
import { namedEvent } from '../dialect.ts';
import {
  callItem,
  finished,
  messageItem,
  newId,
  reasoningItem,
  responseHead,
  textPart,
} from './response-object.ts';

/** The item that is being written. */
interface OpenItem {
  readonly kind: 'message' | 'reasoning' | 'call';
  readonly id: string;
  readonly index: number;
  /** Of a call: its place among the calls of the engine's answer. */
  readonly of?: number;
  readonly call_id: string;
  readonly name: string;
  text: string;
}

/** Writes the events of the Responses API: each item is opened, grows and is closed. */
export class ResponseEvents implements EventWriter {
  readonly #head: Fields;
  readonly #output: object[] = [];
  #open: OpenItem | null = null;
  #number = 0;
  #reason = 'stop';
  #begun = false;

  constructor(fields: Fields, model: string) {
    this.#head = responseHead(fields, model);
  }

  chunk({ choices }: ChatChunk): string {
    const [choice] = choices ?? [];
    if (!choice) return '';
    if (choice.finish_reason) this.#reason = choice.finish_reason;
    const { content, reasoning_content: thought, tool_calls: calls } = choice.delta ?? {};
    return [
      this.#begin(),
      thought ? this.#grow('reasoning', thought) : '',
      content ? this.#grow('message', content) : '',
      ...(calls ?? []).map((call) => this.#call(call)),
    ].join('');
  }

  end(usage: Usage): string {
    const closed = this.#begin() + this.#close();
    const response = finished(this.#head, { output: this.#output, usage, reason: this.#reason });
    const type = response['status'] === 'completed' ? 'completed' : 'incomplete';
    return closed + this.#event(`response.${type}`, { response });
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

  #grow(kind: 'message' | 'reasoning', delta: string): string {
    const opened = this.#open?.kind === kind ? '' : this.#openItem(kind);
    const item = this.#open as OpenItem;
    item.text += delta;
    const type =
      kind === 'message' ? 'response.output_text.delta' : 'response.reasoning_text.delta';
    return opened + this.#event(type, { ...at(item), content_index: 0, delta });
  }

  #call({ index, id, function: called }: CallDelta): string {
    const isSame = this.#open?.kind === 'call' && this.#open.of === index;
    const opened = isSame
      ? ''
      : this.#openItem('call', {
          of: index,
          call_id: id ?? newId('call'),
          name: called?.name ?? '',
        });
    const delta = called?.arguments ?? '';
    const item = this.#open as OpenItem;
    item.text += delta;
    if (delta === '') return opened;
    return opened + this.#event('response.function_call_arguments.delta', { ...at(item), delta });
  }

  #openItem(
    kind: OpenItem['kind'],
    { of = 0, call_id = '', name = '' }: Partial<Pick<OpenItem, 'of' | 'call_id' | 'name'>> = {},
  ): string {
    const closed = this.#close();
    const prefix = { message: 'msg', reasoning: 'rs', call: 'fc' }[kind];
    const index = this.#output.length;
    const open: OpenItem = { kind, id: newId(prefix), index, of, call_id, name, text: '' };
    this.#open = open;
    const item = {
      ...toItem(open),
      status: 'in_progress',
      ...(kind !== 'call' && { content: [] }),
    };
    const added = this.#event('response.output_item.added', { output_index: index, item });
    if (kind !== 'message') return closed + added;
    const part = this.#event('response.content_part.added', {
      ...at(open),
      content_index: 0,
      part: textPart(''),
    });
    return closed + added + part;
  }

  #close(): string {
    const open = this.#open;
    if (!open) return '';
    this.#open = null;
    const item = toItem(open);
    this.#output.push(item);
    const done = this.#event('response.output_item.done', { output_index: open.index, item });
    return this.#partDone(open) + done;
  }

  #partDone(open: OpenItem): string {
    const { text, name } = open;
    if (open.kind === 'call')
      return this.#event('response.function_call_arguments.done', {
        ...at(open),
        name,
        arguments: text,
      });
    const place = { ...at(open), content_index: 0 };
    if (open.kind === 'reasoning')
      return this.#event('response.reasoning_text.done', { ...place, text });
    return (
      this.#event('response.output_text.done', { ...place, text }) +
      this.#event('response.content_part.done', { ...place, part: textPart(text) })
    );
  }
}

const at = ({ id, index }: OpenItem) => ({ item_id: id, output_index: index });

function toItem({ kind, id, text, call_id, name }: OpenItem): object {
  if (kind === 'message') return messageItem(id, text);
  if (kind === 'reasoning') return reasoningItem(id, text);
  return callItem(id, { call_id, name, arguments: text });
}
