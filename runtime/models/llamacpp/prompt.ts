import type { ChatHistoryItem } from 'node-llama-cpp';
import { readConversation } from './conversation.ts';
import { ApiFailure, invalid, type Fields, flag, numbers } from './failure.ts';
import { type AnswerFormat, answerGrammar, readToolUse, type ToolUse } from './tools.ts';

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
  readonly tools: ToolUse;
  /** What the answer must follow, in the notation of llama.cpp; null when it is free text. */
  readonly grammar: string | null;
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

/** The defaults of llama.cpp. */
const DEFAULTS = { temperature: 0.8, topP: 0.95, topK: 40, minP: 0.05 } as const;
const MAX_SEED = 2 ** 32 - 1;

/** Fields that are read, and those that change nothing of an answer. */
const KNOWN_FIELDS = new Set([
  ...['model', 'messages', 'prompt', 'stream', 'stream_options', 'max_tokens'],
  ...['max_completion_tokens', 'temperature', 'top_p', 'top_k', 'min_p', 'seed', 'stop'],
  ...['frequency_penalty', 'presence_penalty', 'response_format', 'n', 'best_of'],
  ...['tools', 'tool_choice', 'parallel_tool_calls'],
  ...['user', 'metadata', 'service_tier', 'safety_identifier', 'prompt_cache_key'],
]);

/** @throws ApiFailure 400 that names the parameter. */
export function readPrompt(kind: Prompt['kind'], value: unknown): Prompt {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ApiFailure(400, 'The body must be a JSON object');
  const fields = value as Fields;
  assertSupported(fields, kind);
  const number = numbers(fields);
  const tools = readToolUse(fields);
  return {
    kind,
    history: kind === 'chat' ? readConversation(fields['messages'], tools) : [],
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
    tools,
    grammar: answerGrammar(tools, readFormat(fields['response_format'])),
  };
}

/** An unknown field is refused, because a client would believe that an ignored one works. */
function assertSupported(fields: Fields, kind: Prompt['kind']): void {
  const strange = Object.keys(fields).find(
    (name) => !KNOWN_FIELDS.has(name) && isSet(fields[name]),
  );
  const several = ['n', 'best_of'].find((name) => isSet(fields[name]) && fields[name] !== 1);
  const toolsOfText = kind === 'text' && isSet(fields['tools']) ? 'tools' : undefined;
  const missing = strange ?? several ?? toolsOfText;
  if (missing !== undefined) throw invalid(missing, 'is not supported by the llamacpp engine');
}

const isSet = (value: unknown) =>
  value !== undefined &&
  value !== null &&
  value !== false &&
  !(Array.isArray(value) && value.length === 0);

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

function readFormat(value: unknown): AnswerFormat {
  const { type = 'text', json_schema: schema } = (value ?? {}) as {
    type?: unknown;
    json_schema?: { schema?: unknown };
  };
  const path = 'response_format.json_schema.schema';
  if (type === 'text') return null;
  if (type === 'json_object') return { schema: null, path };
  if (type === 'json_schema' && typeof schema?.schema === 'object' && schema.schema !== null)
    return { schema: schema.schema, path };
  throw invalid('response_format', 'must be text, json_object, or json_schema with a schema');
}
