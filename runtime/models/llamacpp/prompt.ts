import type { ChatHistoryItem } from 'node-llama-cpp';
import { ApiFailure, invalid } from './failure.ts';

/** A request of the OpenAI API, read and checked. */
export interface Prompt {
  readonly kind: 'chat' | 'text';
  readonly history: ChatHistoryItem[];
  /** The prompt of `/v1/completions`. */
  readonly text: string;
  readonly stream: boolean;
  readonly usage: boolean;
  readonly maxTokens: number | null;
  readonly sampling: Sampling;
  readonly stop: readonly string[];
  readonly format: null | { readonly schema: object | null };
}

export interface Sampling {
  readonly temperature: number;
  readonly topP: number;
  readonly topK: number;
  readonly minP: number;
  readonly seed: number | null;
  readonly frequencyPenalty: number;
  readonly presencePenalty: number;
}

type Fields = Readonly<Record<string, unknown>>;

/** The defaults of llama.cpp. */
const DEFAULTS = { temperature: 0.8, topP: 0.95, topK: 40, minP: 0.05 } as const;
const MAX_SEED = 2 ** 32 - 1;

/** Unsupported fields are refused, because a client would believe that an ignored one works. */
const UNSUPPORTED_FIELDS = [
  'tools',
  'functions',
  'logprobs',
  'top_logprobs',
  'logit_bias',
  'audio',
  'suffix',
  'echo',
  'best_of',
];

/** @throws ApiFailure 400 that names the parameter. */
export function readPrompt(kind: Prompt['kind'], value: unknown): Prompt {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ApiFailure(400, 'The body must be a JSON object');
  const fields = value as Fields;
  const missing = UNSUPPORTED_FIELDS.find((name) => isSet(fields[name]));
  if (missing !== undefined) throw invalid(missing, 'is not supported by the llamacpp engine');
  if (![undefined, null, 1].includes(fields['n'] as number)) throw invalid('n', 'must be 1');
  const number = numbers(fields);
  return {
    kind,
    history: kind === 'chat' ? readMessages(fields['messages']) : [],
    text: kind === 'text' ? readText(fields['prompt']) : '',
    stream: flag(fields, 'stream'),
    usage: flag((fields['stream_options'] ?? {}) as Fields, 'include_usage'),
    maxTokens: number('max_completion_tokens', 1, 1e6) ?? number('max_tokens', 1, 1e6),
    sampling: {
      temperature: number('temperature', 0, 2) ?? DEFAULTS.temperature,
      topP: number('top_p', 0, 1) ?? DEFAULTS.topP,
      topK: number('top_k', 0, 1e6) ?? DEFAULTS.topK,
      minP: number('min_p', 0, 1) ?? DEFAULTS.minP,
      seed: number('seed', -MAX_SEED, MAX_SEED),
      frequencyPenalty: number('frequency_penalty', -2, 2) ?? 0,
      presencePenalty: number('presence_penalty', -2, 2) ?? 0,
    },
    stop: readStop(fields['stop']),
    format: readFormat(fields['response_format']),
  };
}

const isSet = (value: unknown) =>
  value !== undefined &&
  value !== null &&
  value !== false &&
  !(Array.isArray(value) && value.length === 0);

const numbers =
  (fields: Fields) =>
  (name: string, min: number, max: number): number | null => {
    const value = fields[name];
    if (value === undefined || value === null) return null;
    if (typeof value === 'number' && value >= min && value <= max) return value;
    throw invalid(name, `must be a number from ${min} to ${max}`);
  };

function flag(fields: Fields, name: string): boolean {
  const value = fields[name];
  if (value === undefined || value === null || typeof value === 'boolean') return value === true;
  throw invalid(name, 'must be true or false');
}

function readMessages(value: unknown): ChatHistoryItem[] {
  if (!Array.isArray(value) || value.length === 0)
    throw invalid('messages', 'must be a list with at least one message');
  return value.map((message, index): ChatHistoryItem => {
    const { role, content } = (message ?? {}) as Fields;
    const text = readContent(content, `messages[${index}].content`);
    if (role === 'system' || role === 'developer') return { type: 'system', text };
    if (role === 'user') return { type: 'user', text };
    if (role === 'assistant') return { type: 'model', response: [text] };
    throw invalid(`messages[${index}].role`, 'must be system, developer, user or assistant');
  });
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

function readText(value: unknown): string {
  const text = Array.isArray(value) && value.length === 1 ? value[0] : value;
  if (typeof text === 'string' && text !== '') return text;
  throw invalid('prompt', 'must be one text');
}

function readStop(value: unknown): readonly string[] {
  const list = value === undefined || value === null ? [] : Array.isArray(value) ? value : [value];
  if (list.length <= 16 && list.every((text) => typeof text === 'string' && text !== ''))
    return list as string[];
  throw invalid('stop', 'must be a text or up to 16 of them');
}

function readFormat(value: unknown): Prompt['format'] {
  const { type = 'text', json_schema: schema } = (value ?? {}) as {
    type?: unknown;
    json_schema?: { schema?: unknown };
  };
  if (type === 'text') return null;
  if (type === 'json_object') return { schema: null };
  if (type === 'json_schema' && typeof schema?.schema === 'object' && schema.schema !== null)
    return { schema: schema.schema };
  throw invalid('response_format', 'must be text, json_object, or json_schema with a schema');
}
