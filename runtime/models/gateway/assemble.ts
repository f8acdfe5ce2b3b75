import type { CallDelta, ChatChunk, Fields } from './dialect.ts';

/**
 * Joins the chunks of a streamed answer to a whole one. Engines of ours are always asked for a
 * stream, so that it is known what was made when a client leaves.
 */
export class Assembly {
  #head: Fields = {};
  #content = '';
  #thought = '';
  #text = '';
  #reason: string | null = null;
  #stop: unknown;
  #usage: unknown;
  readonly #calls: { id: string; name: string; arguments: string }[] = [];

  chunk({ choices, usage, ...head }: ChatChunk): void {
    this.#head = head as Fields;
    if (usage) this.#usage = usage;
    const [choice] = choices ?? [];
    if (!choice) return;
    this.#content += choice.delta?.content ?? '';
    this.#thought += choice.delta?.reasoning_content ?? '';
    this.#text += choice.text ?? '';
    this.#reason = choice.finish_reason ?? this.#reason;
    this.#stop = choice.stop_reason ?? this.#stop;
    for (const call of choice.delta?.tool_calls ?? []) this.#call(call);
  }

  answer(isChat: boolean): Fields {
    const end = {
      finish_reason: this.#reason,
      logprobs: null,
      ...(this.#stop !== undefined && { stop_reason: this.#stop }),
    };
    const choice = isChat ? { message: this.#message() } : { text: this.#text };
    const object = isChat ? 'chat.completion' : 'text_completion';
    const usage = this.#usage;
    return { ...this.#head, object, choices: [{ index: 0, ...choice, ...end }], usage };
  }

  #message(): Fields {
    const calls = this.#calls.map(({ id, ...called }) => ({
      id,
      type: 'function',
      function: called,
    }));
    return {
      role: 'assistant',
      content: this.#content === '' && calls.length > 0 ? null : this.#content,
      ...(this.#thought !== '' && { reasoning_content: this.#thought }),
      ...(calls.length > 0 && { tool_calls: calls }),
    };
  }

  #call({ index, id = '', function: called }: CallDelta): void {
    const known = (this.#calls[index] ??= { id, name: '', arguments: '' });
    known.name += called?.name ?? '';
    known.arguments += called?.arguments ?? '';
  }
}
