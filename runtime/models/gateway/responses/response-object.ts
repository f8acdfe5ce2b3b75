import { randomUUID } from 'node:crypto';
import type { ChatAnswer, Fields, Usage } from '../dialect.ts';

/** An id with the prefix that clients expect. */
export const newId = (prefix: string): string => `${prefix}_${randomUUID().replaceAll('-', '')}`;

/** A whole answer of the Responses API. */
export function responseObject(
  fields: Fields,
  {
    answer,
    usage,
    model,
  }: { readonly answer: ChatAnswer; readonly usage: Usage; readonly model: string },
): Fields {
  const choice = answer.choices[0];
  const { content, reasoning_content: thought, tool_calls: calls } = choice?.message ?? {};
  const output = [
    ...(thought ? [reasoningItem(newId('rs'), thought)] : []),
    ...(content ? [messageItem(newId('msg'), content)] : []),
    ...(calls ?? []).map((call) =>
      callItem(newId('fc'), {
        call_id: call.id ?? newId('call'),
        name: call.function?.name ?? '',
        arguments: call.function?.arguments ?? '{}',
      }),
    ),
  ];
  const head = responseHead(fields, model);
  return finished(head, { output, usage, reason: choice?.finish_reason ?? 'stop' });
}

/** A response that has not ended, with the settings of its request. */
export function responseHead(fields: Fields, model: string): Fields {
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

/** A response that has ended. */
export function finished(
  head: Fields,
  {
    output,
    usage,
    reason,
  }: { readonly output: readonly object[]; readonly usage: Usage; readonly reason: string },
): Fields {
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

export const textPart = (text: string) => ({ type: 'output_text', text, annotations: [] });

export const messageItem = (id: string, text: string) => ({
  id,
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [textPart(text)],
});

export const reasoningItem = (id: string, text: string) => ({
  id,
  type: 'reasoning',
  summary: [],
  content: [{ type: 'reasoning_text', text }],
});

export interface Call {
  readonly call_id: string;
  readonly name: string;
  readonly arguments: string;
}

export const callItem = (id: string, call: Call) => ({
  id,
  type: 'function_call',
  status: 'completed',
  ...call,
});
