import { assertOnly, type Fields, present, type Translated } from '../dialect.ts';
import { malformed, unsupported } from '../failures.ts';
import { MessageEvents, messageObject } from './message-answer.ts';

const KNOWN_FIELDS = new Set([
  ...['messages', 'system', 'max_tokens', 'tools', 'tool_choice', 'stop_sequences', 'stream'],
  ...['temperature', 'top_p', 'top_k', 'metadata', 'service_tier', 'thinking'],
]);

/** Reads a request of Anthropic's Messages API as a chat. @throws AppError 400 */
export function readMessages(fields: Fields): Translated {
  const limit = fields['max_tokens'];
  if (!Number.isInteger(limit) || Number(limit) < 1)
    throw malformed('max_tokens', 'must be a number from 1');
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
    throw malformed('messages', 'must be a list with at least one message');
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
  if (!Array.isArray(value)) throw malformed('tools', 'must be a list');
  if (value.length === 0) return null;
  return value.map((tool: Fields | null, index) => {
    const { type = 'custom', name, description, input_schema: parameters, strict } = tool ?? {};
    if (type !== 'custom' && type !== null)
      throw malformed(`tools[${index}].type`, 'must be custom: there are no built-in tools');
    return { type: 'function', function: present({ name, description, parameters, strict }) };
  });
}

function readChoice({ type, name }: Fields): unknown {
  if (type === 'auto' || type === 'none') return type;
  if (type === 'any') return 'required';
  if (type === 'tool') return { type: 'function', function: { name } };
  throw malformed('tool_choice.type', 'must be auto, any, tool or none');
}

/** Reads one message as messages of a chat: results of tools are messages of their own there. */
function readBlocks({ role, content }: Fields, path: string): readonly Fields[] {
  if (role !== 'user' && role !== 'assistant')
    throw malformed(`${path}.role`, 'must be user or assistant');
  if (typeof content === 'string') return [{ role, content }];
  if (!Array.isArray(content))
    throw malformed(`${path}.content`, 'must be text or a list of blocks');
  const blocks = content as readonly (Fields | null)[];
  blocks.forEach((block, index) => assertBlock(block ?? {}, role, `${path}.content[${index}]`));
  return role === 'user'
    ? readUser(blocks as readonly Fields[], path)
    : [readAssistant(blocks as readonly Fields[])];
}

function assertBlock({ type, text }: Fields, role: string, path: string): void {
  const allowed = role === 'user' ? ['text', 'tool_result'] : ['text', 'tool_use'];
  if (!allowed.includes(type as string))
    throw malformed(`${path}.type`, `must be ${allowed.join(' or ')}: nothing else is supported`);
  if (type === 'text' && typeof text !== 'string') throw malformed(`${path}.text`, 'must be text');
}

function readUser(blocks: readonly Fields[], path: string): readonly Fields[] {
  const results = blocks.flatMap((block, index) =>
    block['type'] === 'tool_result' ? [readResult(block, `${path}.content[${index}]`)] : [],
  );
  const text = textOf(blocks);
  return text === '' && results.length > 0
    ? results
    : [...results, { role: 'user', content: text }];
}

function readResult({ tool_use_id: id, content, is_error: failed }: Fields, path: string): Fields {
  const text = content == null ? '' : readText(content, `${path}.content`);
  return { role: 'tool', tool_call_id: id, content: failed === true ? `Error: ${text}` : text };
}

function readAssistant(blocks: readonly Fields[]): Fields {
  const calls = blocks
    .filter(({ type }) => type === 'tool_use')
    .map(({ id, name, input }) => ({
      id,
      type: 'function',
      function: { name, arguments: JSON.stringify(input ?? {}) },
    }));
  const text = textOf(blocks);
  const content = text === '' && calls.length > 0 ? null : text;
  return { role: 'assistant', content, ...(calls.length > 0 && { tool_calls: calls }) };
}

const textOf = (blocks: readonly Fields[]) =>
  blocks.map(({ type, text }) => (type === 'text' ? String(text) : '')).join('');

/** A text, or a list of blocks of text. */
function readText(value: unknown, param: string): string {
  if (typeof value === 'string') return value;
  const isText = (block: Fields | null) =>
    block?.['type'] === 'text' && typeof block['text'] === 'string';
  if (Array.isArray(value) && value.every(isText)) return textOf(value as readonly Fields[]);
  throw malformed(param, 'must be text or blocks of text');
}
