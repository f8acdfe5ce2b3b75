import type { Fields, Translated } from './dialect.ts';
import { malformed, refusal } from './failures.ts';

/** What the tokens of an answer depend on, each with a bound that is reserved. */
const LIMITS = ['max_completion_tokens', 'max_tokens'] as const;
const COPIES = ['n', 'best_of'] as const;

/** Fields that steer an answer, and of which nothing is in a prompt. */
const STEERING: ReadonlySet<string> = new Set([
  ...[...LIMITS, ...COPIES, 'min_tokens', 'stream', 'stream_options', 'top_n', 'return_documents'],
  ...['temperature', 'top_p', 'top_k', 'min_p', 'typical_p', 'xtc_probability', 'xtc_threshold'],
  ...['frequency_penalty', 'presence_penalty', 'repetition_penalty', 'repeat_penalty'],
  ...['frequency_context_size', 'presence_context_size', 'repetition_context_size'],
  ...['seed', 'stop', 'stop_token_ids', 'ignore_eos', 'logit_bias', 'logprobs', 'top_logprobs'],
  ...['encoding_format', 'dimensions', 'user', 'metadata', 'service_tier', 'store'],
  ...['safety_identifier', 'prompt_cache_key'],
]);

/**
 * Fields of a request whose cost is known before it runs: either all of their text is counted, or
 * they steer an answer without making it longer. What an engine does with another one is not known.
 */
const COUNTABLE: ReadonlySet<string> = new Set([
  ...STEERING,
  ...['messages', 'prompt', 'suffix', 'input', 'query', 'documents', 'echo'],
  ...['tools', 'tool_choice', 'parallel_tool_calls', 'functions', 'function_call'],
  ...['response_format', 'guided_json', 'guided_regex', 'guided_choice', 'guided_grammar'],
  ...['chat_template_kwargs', 'role_mapping', 'reasoning_effort', 'verbosity'],
]);

/** The fields of a request that may be in its prompt. */
export const promptOf = (body: Fields): Fields =>
  Object.fromEntries(Object.entries(body).filter(([name]) => !STEERING.has(name)));

/** Members of a part of a message, or of a document, that are text. */
const TEXT_MEMBERS = new Set(['type', 'text', 'refusal', 'cache_control']);
const TEXT_TYPES: readonly unknown[] = [undefined, 'text', 'refusal'];

/** @throws AppError 400 that names what cannot be counted before the engine has worked */
export function assertCountable(body: Fields): void {
  const strange = Object.keys(body).find((name) => !COUNTABLE.has(name) && body[name] != null);
  if (strange !== undefined) throw uncountable(strange);
  for (const name of ['input', 'documents']) assertTexts(body[name], name);
  if (!Array.isArray(body['messages'])) return;
  for (const [index, message] of body['messages'].entries())
    assertTexts((message as Fields | null)?.['content'], `messages[${index}].content`);
}

/** An image or a sound costs tokens that its address does not show. */
function assertTexts(parts: unknown, path: string): void {
  if (!Array.isArray(parts)) return;
  const strange = parts.findIndex((part: unknown) => typeof part === 'object' && !isText(part));
  if (strange >= 0) throw uncountable(`${path}[${strange}]`);
}

function isText(part: object | null): boolean {
  if (part === null || Array.isArray(part)) return true;
  const members = Object.keys(part);
  return (
    members.every((name) => TEXT_MEMBERS.has(name)) && TEXT_TYPES.includes((part as Fields)['type'])
  );
}

const uncountable = (param: string) =>
  refusal(
    400,
    `${param} is not supported for a key with a budget of tokens or money, as its cost is not ` +
      'known before: leave it out, or take another key',
    { param },
  );

/**
 * The most tokens of one answer, null where the request does not say it. Engines differ in which of
 * the two fields they follow, so the larger one counts.
 */
export function limitOf({ body, named }: Translated): number | null {
  const given = LIMITS.flatMap((name) => wholeNumber(body, name, named) ?? []);
  return given.length === 0 ? null : Math.max(...given);
}

/** How many answers a request asks for: copies of one for each of its prompts. */
export function answersOf({ body }: Translated): number {
  const copies = COPIES.map((name) => wholeNumber(body, name) ?? 1);
  return Math.max(...copies) * promptsOf(body['prompt']);
}

/** A list of numbers is one prompt, given as its tokens. */
function promptsOf(prompt: unknown): number {
  if (!Array.isArray(prompt) || prompt.every((token) => typeof token === 'number')) return 1;
  return prompt.length;
}

/** Engines read other values in their own way: `-1` is all that fits, and `"9"` is nine. */
function wholeNumber(body: Fields, name: string, named = (field: string) => field): number | null {
  const value = body[name];
  if (value === undefined || value === null) return null;
  if (Number.isSafeInteger(value) && Number(value) >= 1) return Number(value);
  const param = named(name);
  throw malformed(param, 'must be a whole number from 1 for a key with a budget');
}
