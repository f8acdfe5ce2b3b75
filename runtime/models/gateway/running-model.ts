import { failure } from '@twofold/runtime/errors';
import type { EngineName } from '../engine/engine.ts';
import type { RunState } from '../supervisor.ts';
import { unknownModel } from './failures.ts';
import type { ModelAccess } from './model-access.ts';

export interface RunningModelOptions {
  readonly now: () => RunState;
  readonly engine: () => EngineName;
  /** The models of an attached server, which has further ones; null when there is none. */
  readonly remote: () => Promise<readonly string[]> | null;
}

/** The model that runs now. */
export function createRunningModel({ now, engine, remote }: RunningModelOptions): ModelAccess {
  return {
    async names() {
      const { state, model } = now();
      const ids = (await remote()) ?? (model && state === 'running' ? [model.id] : []);
      return ids.map((id) => ({ name: id, id }));
    },
    candidates: (name) => [name === 'default' ? (now().model?.id ?? name) : name],
    async acquire(name) {
      const { state, model, endpoint } = now();
      if (state === 'restarting' || state === 'starting')
        throw failure.unavailable('The model is being started', {
          headers: { 'Retry-After': '2' },
        });
      if (!model || !endpoint)
        throw failure.unavailable('No model is running: POST /api/mlx/start');
      const named = name === 'default' ? model.id : name;
      const others = remote();
      if (named !== model.id && !(await others)?.includes(named)) throw unknownModel(named);
      const asked = named === model.id ? endpoint : { ...endpoint, model: named };
      return { id: named, engine: engine(), endpoint: asked, release() {} };
    },
  };
}
