import { assertOnly, type Fields, present, type Translated } from '../dialect.ts';
import { malformed, refusal, unsupported } from '../failures.ts';
import { ResponseEvents, responseObject } from './response-answer.ts';

const KNOWN_FIELDS = new Set([
  ...['input', 'instructions', 'tools', 'tool_choice', 'parallel_tool_calls', 'text', 'stream'],
  ...['temperature', 'top_p', 'max_output_tokens', 'reasoning', 'store', 'include', 'truncation'],
  ...['stream_options', 'user', 'metadata', 'safety_identifier', 'prompt_cache_key'],
  ...['service_tier', 'background'],
]);

/**
 * Reads a request of OpenAI's Responses API as a chat. Nothing is stored, so each request brings its
 * whole conversation.
 *
 * @throws AppError 400 that names the field.
 */
export function readResponse(fields: Fields): Translated {
  if (fields['previous_response_id'] != null || fields['conversation'] != null)
    throw refusal(400, 'Nothing is stored here: send the whole conversation as input', {
      param: fields['conversation'] == null ? 'previous_response_id' : 'conversation',
    });
  if (fields['store'] === true) throw malformed('store', 'must be false: nothing is stored here');
  assertOnly(fields, KNOWN_FIELDS);
  assertMembers(fields);
  assertDefaults(fields);
  const stream = fields['stream'] === true;
  return {
    path: 'chat/completions',
    stream,
    body: chatBody(fields, stream),
    named: (field) => NAMES[field] ?? field.replace('.function.', '.'),
    whole: (answer, usage, model) =>
      responseObject(fields, { answer: answer as never, usage, model }),
    events: (model) => new ResponseEvents(fields, model),
  };
}

/** Where a chat has another name for what this API calls so. */
const NAMES: Readonly<Record<string, string>> = {
  max_tokens: 'max_output_tokens',
  response_format: 'text.format',
  reasoning_effort: 'reasoning.effort',
};

/** The members of fields that are objects. The answer repeats them, so each has to be kept. */
const KNOWN_MEMBERS: Readonly<Record<string, ReadonlySet<string>>> = {
  text: new Set(['format', 'verbosity']),
  reasoning: new Set(['effort']),
  // Usage is in the last event in any case.
  stream_options: new Set(['include_obfuscation', 'include_usage']),
};

function assertMembers(fields: Fields): void {
  for (const [name, known] of Object.entries(KNOWN_MEMBERS)) {
    const members = Object.entries((fields[name] ?? {}) as Fields);
    const strange = members.find(([member, value]) => !known.has(member) && value != null);
    if (strange) throw unsupported(`${name}.${strange[0]}`);
  }
}

/** Refuses values that would change the answer if they were kept. */
function assertDefaults({ include, truncation, background, text, stream_options }: Fields): void {
  const { verbosity = null } = (text ?? {}) as Fields;
  // Medium is the default, so nothing is asked for.
  if (verbosity !== null && verbosity !== 'medium') throw unsupported('text.verbosity');
  if ((stream_options as Fields | null)?.['include_obfuscation'] === true)
    throw unsupported('stream_options.include_obfuscation');
  if (Array.isArray(include) && include.length > 0) throw unsupported('include');
  if (truncation === 'auto') throw unsupported('truncation');
  if (background === true) throw unsupported('background');
}

function chatBody(fields: Fields, stream: boolean): Fields {
  return present({
    messages: readItems(fields['input'], fields['instructions']),
    tools: readTools(fields['tools']),
    tool_choice: readChoice(fields['tool_choice']),
    parallel_tool_calls: fields['tools'] === undefined ? null : fields['parallel_tool_calls'],
    response_format: readFormat(fields['text']),
    temperature: fields['temperature'],
    top_p: fields['top_p'],
    max_tokens: fields['max_output_tokens'],
    reasoning_effort: (fields['reasoning'] as Fields | undefined)?.['effort'],
    stream: stream || null,
  });
}

function readTools(value: unknown): unknown {
  if (value === undefined || value === null) return null;
  if (!Array.isArray(value)) throw malformed('tools', 'must be a list');
  if (value.length === 0) return null;
  return value.map((tool: Fields | null, index) => {
    const { type, ...named } = tool ?? {};
    if (type !== 'function')
      throw malformed(`tools[${index}].type`, 'must be function: there are no built-in tools');
    return { type, function: { ...named, strict: named['strict'] !== false } };
  });
}

function readChoice(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { type, name } = value as Fields;
  if (type !== 'function') throw unsupported('tool_choice');
  return { type, function: { name } };
}

function readFormat(text: unknown): unknown {
  const { type = 'text', ...format } = ((text as Fields | null)?.['format'] ?? {}) as Fields;
  if (type === 'text') return null;
  if (type === 'json_object') return { type };
  if (type === 'json_schema') return { type, json_schema: format };
  throw malformed('text.format', 'must be text, json_object or json_schema');
}

/** Reads `input` and `instructions` as the messages of a chat. @throws AppError 400 */
export function readItems(input: unknown, instructions: unknown): readonly Fields[] {
  const first = typeof instructions === 'string' ? [{ role: 'system', content: instructions }] : [];
  if (typeof input === 'string') return [...first, { role: 'user', content: input }];
  if (!Array.isArray(input) || input.length === 0)
    throw malformed('input', 'must be text or a list of items');
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
    throw malformed(`${path}.type`, `${String(type).slice(0, 50)} is not supported`);
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
    throw malformed(`${path}.role`, 'must be user, assistant, system or developer');
  return { role, content: readContent(content, `${path}.content`) };
}

const TEXT_PARTS = ['input_text', 'output_text', 'text'];

function readContent(content: unknown, param: string): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) throw malformed(param, 'must be text');
  return content
    .map((part: Fields | null, index) => {
      if (TEXT_PARTS.includes(part?.['type'] as string) && typeof part?.['text'] === 'string')
        return part['text'];
      const at = `${param}[${index}]`;
      throw malformed(at, 'must be text: other content is not supported');
    })
    .join('');
}
