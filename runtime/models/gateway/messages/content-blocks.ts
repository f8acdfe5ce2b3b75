import type { Fields } from '../dialect.ts';
import { refusal } from '../failures.ts';

/** Reads one message as messages of a chat: results of tools are messages of their own there. */
export function readBlocks({ role, content }: Fields, path: string): readonly Fields[] {
  if (role !== 'user' && role !== 'assistant')
    throw refusal(400, `${path}.role must be user or assistant`, { param: `${path}.role` });
  if (typeof content === 'string') return [{ role, content }];
  if (!Array.isArray(content))
    throw refusal(400, `${path}.content must be text or a list of blocks`, {
      param: `${path}.content`,
    });
  const blocks = content as readonly (Fields | null)[];
  blocks.forEach((block, index) => assertBlock(block ?? {}, role, `${path}.content[${index}]`));
  return role === 'user'
    ? readUser(blocks as readonly Fields[], path)
    : [readAssistant(blocks as readonly Fields[])];
}

function assertBlock({ type, text }: Fields, role: string, path: string): void {
  const allowed = role === 'user' ? ['text', 'tool_result'] : ['text', 'tool_use'];
  if (!allowed.includes(type as string))
    throw refusal(400, `${path}.type must be ${allowed.join(' or ')}: nothing else is supported`, {
      param: `${path}.type`,
    });
  if (type === 'text' && typeof text !== 'string')
    throw refusal(400, `${path}.text must be text`, { param: `${path}.text` });
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
export function readText(value: unknown, param: string): string {
  if (typeof value === 'string') return value;
  const isText = (block: Fields | null) =>
    block?.['type'] === 'text' && typeof block['text'] === 'string';
  if (Array.isArray(value) && value.every(isText)) return textOf(value as readonly Fields[]);
  throw refusal(400, `${param} must be text or blocks of text`, { param });
}
