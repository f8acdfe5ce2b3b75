import { randomUUID } from 'node:crypto';
import type { ChatAnswer, Usage } from '../dialect.ts';

export interface MessageParts {
  readonly answer: ChatAnswer;
  readonly usage: Usage;
  readonly model: string;
  /** The stop sequences of the request. */
  readonly stops: readonly string[];
}

/** A whole answer of the Messages API. */
export function messageObject({ answer, usage, model, stops }: MessageParts): object {
  const choice = answer.choices[0];
  const { content, tool_calls: calls } = choice?.message ?? {};
  return {
    ...messageHead(model),
    content: [
      ...(content ? [{ type: 'text', text: content }] : []),
      ...(calls ?? []).map(({ id, function: called }) => ({
        type: 'tool_use',
        id: id ?? `toolu_${randomUUID()}`,
        name: called?.name ?? '',
        input: parseArguments(called?.arguments ?? ''),
      })),
    ],
    ...stopOf(choice?.finish_reason ?? null, choice?.stop_reason, stops),
    usage: messageUsage(usage),
  };
}

export const messageHead = (model: string) => ({
  id: `msg_${randomUUID().replaceAll('-', '')}`,
  type: 'message',
  role: 'assistant',
  model,
});

export const messageUsage = ({ input, output }: Usage) => ({
  input_tokens: input,
  output_tokens: output,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
});

/** Why an answer ended, in Anthropic's words. */
export function stopOf(reason: string | null, stop: unknown, stops: readonly string[]) {
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
