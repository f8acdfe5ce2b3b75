import type { Fields } from '../dialect.ts';
import { refusal } from '../failures.ts';

/** Reads `input` and `instructions` as the messages of a chat. @throws AppError 400 */
export function readItems(input: unknown, instructions: unknown): readonly Fields[] {
  const first = typeof instructions === 'string' ? [{ role: 'system', content: instructions }] : [];
  if (typeof input === 'string') return [...first, { role: 'user', content: input }];
  if (!Array.isArray(input) || input.length === 0)
    throw refusal(400, 'input must be text or a list of items', { param: 'input' });
  const messages: Fields[] = [...first];
  for (const [index, item] of input.entries())
    append(messages, (item ?? {}) as Fields, `input[${index}]`);
  return messages;
}

function append(messages: Fields[], item: Fields, path: string): void {
  const { type = 'message' } = item;
  if (type === 'message') messages.push(readMessage(item, path));
  else if (type === 'function_call') appendCall(messages, item);
  else if (type === 'function_call_output')
    messages.push({
      role: 'tool',
      tool_call_id: item['call_id'],
      content: readContent(item['output'], `${path}.output`),
    });
  // The reasoning of an earlier answer is not read again by a model.
  else if (type !== 'reasoning')
    throw refusal(400, `${path}.type ${String(type).slice(0, 50)} is not supported`, {
      param: `${path}.type`,
    });
}

/** Calls that were made together belong to one message. */
function appendCall(messages: Fields[], { call_id: id, name, arguments: args }: Fields): void {
  const call = { id, type: 'function', function: { name, arguments: args } };
  const before = messages.at(-1);
  if (before?.['role'] !== 'assistant')
    return void messages.push({ role: 'assistant', content: null, tool_calls: [call] });
  const calls = before['tool_calls'] as Fields[] | undefined;
  // Not into a copy: there may be very many of them.
  if (calls) calls.push(call);
  else messages[messages.length - 1] = { ...before, tool_calls: [call] };
}

function readMessage({ role, content }: Fields, path: string): Fields {
  if (!['user', 'assistant', 'system', 'developer'].includes(role as string))
    throw refusal(400, `${path}.role must be user, assistant, system or developer`, {
      param: `${path}.role`,
    });
  return { role, content: readContent(content, `${path}.content`) };
}

const TEXT_PARTS = ['input_text', 'output_text', 'text'];

function readContent(content: unknown, param: string): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) throw refusal(400, `${param} must be text`, { param });
  return content
    .map((part: Fields | null, index) => {
      if (TEXT_PARTS.includes(part?.['type'] as string) && typeof part?.['text'] === 'string')
        return part['text'];
      const at = `${param}[${index}]`;
      throw refusal(400, `${at} must be text: other content is not supported`, { param: at });
    })
    .join('');
}
