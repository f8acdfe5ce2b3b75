import type { EngineName } from '../engine/engine.ts';
import type { Fields, Translated } from './dialect.ts';
import { malformed, refusal, unsupported } from './failures.ts';

/**
 * Fields that `mlx_lm.server` reads, and those that change nothing of an answer. It ignores others.
 * `model`, `adapters` and `draft_model` are no such fields: they make it load other files.
 */
const MLX_FIELDS = new Set([
  ...['messages', 'prompt', 'tools', 'tool_choice', 'stream', 'stream_options', 'stop', 'seed'],
  ...['max_tokens', 'max_completion_tokens', 'temperature', 'top_p', 'top_k', 'min_p'],
  ...['repetition_penalty', 'repetition_context_size', 'xtc_probability', 'xtc_threshold'],
  ...['presence_penalty', 'presence_context_size', 'frequency_penalty', 'frequency_context_size'],
  ...['logit_bias', 'logprobs', 'top_logprobs', 'chat_template_kwargs', 'role_mapping'],
  ...['user', 'metadata', 'service_tier', 'safety_identifier', 'prompt_cache_key'],
]);
/** What a field says that asks for nothing, besides being absent, false or empty. */
const MLX_DEFAULTS: Readonly<Record<string, unknown>> = { n: 1, best_of: 1 };

/**
 * Refuses what an engine would ignore. llama.cpp checks its requests itself, and an attached server
 * knows which fields it has.
 *
 * @throws AppError 400 that names the field and the engine
 */
export function assertCan(engine: EngineName, translated: Translated): void {
  if (engine !== 'mlx') return;
  const { path } = translated;
  if (path === 'embeddings' || path === 'rerank')
    throw refusal(400, `The mlx engine has no /v1/${path}: take a model for llamacpp`, {
      param: 'model',
    });
  if (Array.isArray(translated.body['prompt']))
    throw malformed('prompt', 'must be one text for the mlx engine');
  const missing = missingOfMlx(translated);
  if (missing !== undefined) throw unsupported(translated.named?.(missing) ?? missing, engine);
}

function missingOfMlx({ path, body, stream }: Translated): string | undefined {
  const { tools, tool_choice: choice } = body;
  const hasTools = Array.isArray(tools) && tools.length > 0;
  const strange = Object.keys(body).find(
    (name) => !MLX_FIELDS.has(name) && asksFor(name, body[name]),
  );
  if (strange !== undefined) return strange;
  // It offers the tools also to a request that wants none of them called.
  const isKept = choice == null || choice === 'auto' || (choice === 'none' && !hasTools);
  if (!isKept) return 'tool_choice';
  if (hasTools && path === 'completions') return 'tools';
  // Its streams come without them.
  if (stream && body['logprobs']) return 'logprobs';
  return strictTool(tools);
}

/** It hopes that the arguments of a call fit their schema, and does not see to it. */
function strictTool(tools: unknown): string | undefined {
  if (!Array.isArray(tools)) return undefined;
  const at = tools.findIndex(
    (tool: { readonly function?: Fields } | null) => tool?.function?.['strict'] === true,
  );
  return at < 0 ? undefined : `tools[${at}].function.strict`;
}

function asksFor(name: string, value: unknown): boolean {
  if (value === undefined || value === null || value === MLX_DEFAULTS[name]) return false;
  // Several calls in one answer are what it does anyway.
  if (name === 'parallel_tool_calls') return value !== true;
  if (name === 'response_format') return (value as Fields)['type'] !== 'text';
  return value !== false && !(Array.isArray(value) && value.length === 0);
}
