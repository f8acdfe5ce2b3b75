import { assertOnly, type Fields, present, type Translated } from '../dialect.ts';
import { refusal, unsupported } from '../failures.ts';
import { readBlocks, readText } from './content-blocks.ts';
import { MessageEvents, messageObject } from './message-answer.ts';

const KNOWN_FIELDS = new Set([
  ...['messages', 'system', 'max_tokens', 'tools', 'tool_choice', 'stop_sequences', 'stream'],
  ...['temperature', 'top_p', 'top_k', 'metadata', 'service_tier', 'thinking'],
]);

/** Reads a request of Anthropic's Messages API as a chat. @throws AppError 400 */
export function readMessages(fields: Fields): Translated {
  const limit = fields['max_tokens'];
  if (!Number.isInteger(limit) || Number(limit) < 1)
    throw refusal(400, 'max_tokens must be a number from 1', { param: 'max_tokens' });
  return translate(fields);
}

/** Like `readMessages`, for a count of its tokens: `max_tokens` may be absent. */
export function translate(fields: Fields): Translated {
  assertOnly(fields, KNOWN_FIELDS);
  const { thinking } = fields as { thinking?: Fields };
  if (thinking && thinking['type'] !== 'disabled') throw unsupported('thinking');
  const stream = fields['stream'] === true;
  const stops = (fields['stop_sequences'] ?? []) as readonly string[];
  return {
    path: 'chat/completions',
    stream,
    body: chatBody(fields, stream),
    named: (field) => NAMES[field] ?? field.replace('.function.', '.'),
    whole: (answer, usage, model) =>
      messageObject({ answer: answer as never, usage, model, stops }),
    events: (model) => new MessageEvents(model, stops),
  };
}

/** Where a chat has another name for what this API calls so. */
const NAMES: Readonly<Record<string, string>> = {
  stop: 'stop_sequences',
  parallel_tool_calls: 'tool_choice.disable_parallel_tool_use',
};

function chatBody(fields: Fields, stream: boolean): Fields {
  const choice = (fields['tool_choice'] ?? null) as Fields | null;
  const stops = fields['stop_sequences'];
  return present({
    messages: readConversation(fields),
    tools: readTools(fields['tools']),
    tool_choice: choice && readChoice(choice),
    parallel_tool_calls: choice?.['disable_parallel_tool_use'] === true ? false : null,
    stop: Array.isArray(stops) && stops.length > 0 ? stops : null,
    max_tokens: fields['max_tokens'],
    temperature: fields['temperature'],
    top_p: fields['top_p'],
    top_k: fields['top_k'],
    stream: stream || null,
  });
}

function readConversation({ system, messages }: Fields): readonly Fields[] {
  if (!Array.isArray(messages) || messages.length === 0)
    throw refusal(400, 'messages must be a list with at least one message', { param: 'messages' });
  const first = system == null ? [] : [{ role: 'system', content: readText(system, 'system') }];
  return [
    ...first,
    ...messages.flatMap((message: Fields | null, index) =>
      readBlocks(message ?? {}, `messages[${index}]`),
    ),
  ];
}

function readTools(value: unknown): unknown {
  if (value === undefined || value === null) return null;
  if (!Array.isArray(value)) throw refusal(400, 'tools must be a list', { param: 'tools' });
  if (value.length === 0) return null;
  return value.map((tool: Fields | null, index) => {
    const { type = 'custom', name, description, input_schema: parameters, strict } = tool ?? {};
    if (type !== 'custom' && type !== null)
      throw refusal(400, `tools[${index}].type must be custom: there are no built-in tools`, {
        param: `tools[${index}].type`,
      });
    return { type: 'function', function: present({ name, description, parameters, strict }) };
  });
}

function readChoice({ type, name }: Fields): unknown {
  if (type === 'auto' || type === 'none') return type;
  if (type === 'any') return 'required';
  if (type === 'tool') return { type: 'function', function: { name } };
  throw refusal(400, 'tool_choice.type must be auto, any, tool or none', {
    param: 'tool_choice.type',
  });
}
