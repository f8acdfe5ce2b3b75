import type { ChatHistoryItem } from 'node-llama-cpp';
import { invalid, type Fields } from './failure.ts';
import { describeTools, type ToolUse, writeCall } from './tools.ts';

/**
 * Reads the messages of a chat. Calls and their results become text, in the form that the
 * instructions for tools show to the model.
 *
 * @throws ApiFailure 400 that names the message.
 */
export function readConversation(value: unknown, use: ToolUse): ChatHistoryItem[] {
  if (!Array.isArray(value) || value.length === 0)
    throw invalid('messages', 'must be a list with at least one message');
  const history: ChatHistoryItem[] = [];
  for (const [index, message] of value.entries())
    append(history, readMessage((message ?? {}) as Fields, `messages[${index}]`));
  return use.tools.length === 0 ? history : withTools(history, describeTools(use));
}

/** Joins the results of calls that were made together into one message. */
function append(history: ChatHistoryItem[], item: ChatHistoryItem): void {
  const before = history.at(-1);
  if (isResult(item) && before && isResult(before))
    history[history.length - 1] = { type: 'user', text: `${before.text}\n${item.text}` };
  else history.push(item);
}

const RESULT_BEGIN = '<tool_response>';
const isResult = (item: ChatHistoryItem): item is Extract<ChatHistoryItem, { type: 'user' }> =>
  item.type === 'user' && item.text.startsWith(RESULT_BEGIN);

function withTools(history: ChatHistoryItem[], instructions: string): ChatHistoryItem[] {
  const [first, ...rest] = history;
  if (first?.type !== 'system') return [{ type: 'system', text: instructions }, ...history];
  return [{ type: 'system', text: `${String(first.text)}\n\n${instructions}` }, ...rest];
}

function readMessage(message: Fields, path: string): ChatHistoryItem {
  const { role, content } = message;
  if (role === 'assistant') return readAnswer(message, path);
  const text = readContent(content, `${path}.content`);
  if (role === 'system' || role === 'developer') return { type: 'system', text };
  if (role === 'user') return { type: 'user', text };
  if (role === 'tool') return { type: 'user', text: `${RESULT_BEGIN}\n${text}\n</tool_response>` };
  throw invalid(`${path}.role`, 'must be system, developer, user, assistant or tool');
}

function readAnswer({ content, tool_calls: calls }: Fields, path: string): ChatHistoryItem {
  const hasCalls = Array.isArray(calls) && calls.length > 0;
  const text = hasCalls && content == null ? '' : readContent(content, `${path}.content`);
  const written = hasCalls
    ? calls.map((call: Fields | null, index) => readCall(call, `${path}.tool_calls[${index}]`))
    : [];
  return { type: 'model', response: [[text, ...written].filter(Boolean).join('\n')] };
}

function readCall(call: Fields | null, path: string): string {
  const { name, arguments: args } = (call?.['function'] ?? {}) as Fields;
  if (typeof name !== 'string' || typeof args !== 'string')
    throw invalid(`${path}.function`, 'must have a name, and arguments as text');
  return writeCall(name, args === '' ? '{}' : args);
}

/** Reads the content of a message: a text, or a list of text parts. */
function readContent(value: unknown, param: string): string {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) throw invalid(param, 'must be text');
  return value.map((part) => readPart(part as Fields | null, param)).join('');
}

function readPart(part: Fields | null, param: string): string {
  if (part?.['type'] === 'text' && typeof part['text'] === 'string') return part['text'];
  throw invalid(param, 'must hold nothing but parts of the type text');
}
