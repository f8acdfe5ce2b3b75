import { failure } from '@twofold/runtime/errors';
import { notDownloaded } from '../download/downloads.ts';
import type { ModelStore } from '../download/model-store.ts';
import type { Chooser } from '../engine/choose.ts';
import type { ModelEngine } from '../engine/engine.ts';
import { unknownModel } from '../gateway/failures.ts';
import type { ModelAccess, ModelName } from '../gateway/model-access.ts';
import type { LocalModel, Model } from '../model.ts';
import type { Loadable, ModelPool } from './model-pool.ts';

export interface FindParts {
  readonly modelStore: ModelStore;
  readonly choose: Chooser;
  readonly catalogue: ReadonlyMap<string, Model>;
}

/** A model that can be asked when nothing is named: the last used one, or the alias of this name. */
const DEFAULT = 'default';

/** Finds the engine that runs a model. The engines are asked in their order. */
export function createFind({ modelStore, choose, catalogue }: FindParts) {
  return async (id: string): Promise<Loadable> => {
    if (id === DEFAULT) throw failure.unavailable('No model is running: POST /api/mlx/start');
    const { engines, reason } = await choose();
    if (engines.length === 0) throw failure.unavailable(`No model can run here: ${reason}`);
    const local = (await modelStore.models()).get(id);
    for (const engine of engines) {
      if (engine.models && (await has(engine, id)))
        return { model: remoteModel(id), engine, isRemote: true };
      if (local && engine.formats.includes(local.format))
        return { model: local, engine, isRemote: false };
    }
    if (local) throw otherFormat(local, engines);
    throw catalogue.has(id) ? notDownloaded(id) : unknownModel(id);
  };
}

async function has(engine: ModelEngine, id: string): Promise<boolean> {
  const models = await engine.models?.().catch((cause: unknown) => {
    throw failure.unavailable('The model server does not answer', { cause });
  });
  return models?.some((model) => model.id === id) ?? false;
}

function otherFormat({ id, format }: LocalModel, engines: readonly ModelEngine[]) {
  const runs = engines
    .map(({ name, formats }) => `${name}) runs ${formats.join(', ')}`)
    .join('; (');
  return failure.conflict(`${id} is ${format}, and the engine here (${runs}`);
}

/** A model of an attached server, without files on this machine. */
const remoteModel = (id: string): LocalModel => ({
  id,
  format: 'gguf',
  path: '',
  size: 0,
  context: null,
});

export interface AccessParts extends FindParts {
  readonly pool: ModelPool;
  readonly aliases: Readonly<Record<string, string>>;
  readonly fallbacks: Readonly<Record<string, readonly string[]>>;
}

/** The models by all their names. */
export function createAccess(parts: AccessParts): ModelAccess {
  const { pool, aliases, fallbacks } = parts;
  const idOf = (name: string): string => {
    let id = name;
    // The manifest has no alias that leads to itself; the bound is for one that was not checked.
    for (let turn = 0; Object.hasOwn(aliases, id) && turn < 100; turn += 1)
      id = aliases[id] as string;
    return id === DEFAULT ? (pool.states()[0]?.model?.id ?? id) : id;
  };
  return {
    acquire: pool.acquire.bind(pool),
    candidates(name) {
      const id = idOf(name);
      const listed = Object.hasOwn(fallbacks, id) ? (fallbacks[id] ?? []) : [];
      const others = listed.map((other): ModelName => ({ name: other, id: idOf(other) }));
      const isFirst = (other: ModelName, at: number) =>
        other.id !== id && others.findIndex((each) => each.id === other.id) === at;
      return [{ name, id }, ...others.filter(isFirst)];
    },
    async names() {
      const ids = await idsOf(parts);
      const others = Object.keys(aliases)
        .map((name): ModelName => ({ name, id: idOf(name) }))
        .filter(({ id }) => ids.includes(id));
      return [...ids.map((id) => ({ name: id, id })), ...others];
    },
  };
}

async function idsOf({ modelStore, choose }: AccessParts): Promise<readonly string[]> {
  const [{ engines }, local] = await Promise.all([choose(), modelStore.models()]);
  const formats = engines.flatMap((engine) => engine.formats);
  const remote = await Promise.all(
    engines.map((engine) => engine.models?.().catch(() => []) ?? []),
  );
  const files = [...local.values()].filter(({ format }) => formats.includes(format));
  // Several servers may have the same model, of which the first in the list runs it.
  return [...new Set([...files, ...remote.flat()].map(({ id }) => id))];
}
