import type { ChatChunk, ChunkChoice, Fields } from './dialect.ts';

/** An object that is being joined. It has no prototype, so any name is safe as a member. */
type Draft = Record<string, unknown>;

/** Texts that an engine says whole, with each chunk or once; all others come in pieces. */
const WHOLE_TEXTS = new Set(['role', 'type', 'id', 'finish_reason', 'stop_reason']);

const draft = (): Draft => Object.create(null) as Draft;

/**
 * Joins the chunks of a streamed answer to a whole one. Engines are asked for a stream in any case,
 * so that it is known what was made when a client leaves. Members that only some engines have are
 * joined as what they are: texts and lists grow, and of other values the last one counts.
 */
export class Assembly {
  #head: Fields = {};
  #usage: unknown;
  /** By their index: an engine may mix the pieces of several answers. */
  readonly #choices = new Map<number, Draft>();

  chunk({ choices, usage, ...head }: ChatChunk): void {
    this.#head = { ...this.#head, ...head };
    if (usage) this.#usage = usage;
    for (const choice of choices ?? []) this.#add(choice);
  }

  answer(isChat: boolean): Fields {
    const object = isChat ? 'chat.completion' : 'text_completion';
    const made = [...this.#choices].toSorted(([a], [b]) => a - b);
    const choices = (made.length > 0 ? made : [[0, draft()] as const]).map(([index, choice]) =>
      isChat ? chatChoice(index, choice) : textChoice(index, choice),
    );
    return { ...this.#head, object, choices, usage: this.#usage };
  }

  #add({ index = 0, delta, ...members }: ChunkChoice): void {
    const known = this.#choices.get(index) ?? draft();
    this.#choices.set(index, known);
    merge(known, { ...members, ...(delta && { delta }) });
  }
}

function merge(known: Draft, more: Fields): void {
  for (const [name, value] of Object.entries(more)) known[name] = joined(name, known[name], value);
}

function joined(name: string, known: unknown, more: unknown): unknown {
  if (more === null || more === undefined) return known ?? more;
  if (typeof more === 'string') return joinedText(name, known, more);
  if (name === 'tool_calls')
    return joinedCalls((known ?? []) as Draft[], more as readonly Fields[]);
  if (Array.isArray(more)) return joinedList((known ?? []) as unknown[], more);
  if (typeof more !== 'object') return more;
  const into = (known ?? draft()) as Draft;
  merge(into, more as Fields);
  return into;
}

function joinedList(known: unknown[], more: readonly unknown[]): unknown[] {
  for (const item of more) known.push(item);
  return known;
}

function joinedText(name: string, known: unknown, more: string): string {
  const before = typeof known === 'string' ? known : '';
  return WHOLE_TEXTS.has(name) ? more || before : before + more;
}

/** The pieces of one call have the same index. Some engines send each call whole, and without it. */
function joinedCalls(known: Draft[], more: readonly Fields[]): Draft[] {
  for (const call of more) {
    const { index } = call;
    const same = index === undefined ? undefined : known.find((each) => each['index'] === index);
    const into = same ?? draft();
    if (!same) known.push(into);
    merge(into, call);
  }
  return known;
}

function chatChoice(index: number, { delta, ...choice }: Draft): Fields {
  const { content, tool_calls: calls, ...message } = (delta ?? {}) as Draft;
  const whole = ((calls ?? []) as readonly Draft[]).map(wholeCall);
  return {
    index,
    message: {
      role: 'assistant',
      ...message,
      content: !content && whole.length > 0 ? null : (content ?? ''),
      ...(whole.length > 0 && { tool_calls: whole }),
    },
    ...END,
    ...choice,
  };
}

const textChoice = (index: number, choice: Draft): Fields => ({
  index,
  text: '',
  ...END,
  ...choice,
});

/** Members that a choice has in any case. */
const END = { finish_reason: null, logprobs: null };

function wholeCall({ index: _index, function: called, ...call }: Draft): Fields {
  const empty = { name: '', arguments: '' };
  return { id: '', type: 'function', ...call, function: { ...empty, ...(called as Fields) } };
}
