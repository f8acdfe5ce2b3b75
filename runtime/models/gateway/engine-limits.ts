import type { EngineName } from '../engine/engine.ts';
import type { Fields, Translated } from './dialect.ts';
import { refusal, unsupported } from './failures.ts';

/** Fields that `mlx_lm.server` does not read, and would ignore. */
const MLX_MISSING = ['n', 'best_of', 'response_format', 'parallel_tool_calls', 'reasoning_effort'];

/**
 * Refuses what an engine would ignore. llama.cpp checks its requests itself, and an attached server
 * is asked as it is.
 *
 * @throws AppError 400 that names the field and the engine
 */
export function assertCan(engine: EngineName, { path, body }: Translated): void {
  if (engine !== 'mlx') return;
  if (path === 'embeddings' || path === 'rerank')
    throw refusal(400, `The mlx engine has no /v1/${path}: take a model for llamacpp`, {
      param: 'model',
    });
  const missing = MLX_MISSING.find((name) => isSet(body, name));
  if (missing !== undefined) throw unsupported(missing, engine);
  const choice = body['tool_choice'];
  if (choice != null && choice !== 'auto' && choice !== 'none')
    throw unsupported('tool_choice', engine);
}

const isSet = (body: Fields, name: string) =>
  body[name] !== undefined && body[name] !== null && body[name] !== 1;
