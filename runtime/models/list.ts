import { count, flag, object, orNull, text, type ValueOf } from '@twofold/schema/shapes';
import type { Downloads } from './download/downloads.ts';
import type { ModelEngine, RemoteModel } from './engine/engine.ts';
import type { LocalModel, Model } from './model.ts';
import type { ModelKind } from './download/model-kind.ts';
import type { ModelPool } from './pool/model-pool.ts';

/** A model in API responses. */
export const model = object(
  {
    id: { ...text, description: 'org/name, as on the hub' },
    name: text,
    size_bytes: { ...count, description: 'Rounded until the hub has returned the exact size' },
    format: {
      enum: ['gguf', 'mlx', 'remote'],
      description: 'remote: the model is on the attached server',
    },
    quantization: orNull('string'),
    status: { enum: ['available', 'downloading', 'downloaded', 'running'] },
    licence: orNull('string'),
    context: {
      ...orNull('integer'),
      description: 'The most tokens of the context that the model was trained for',
    },
    runnable: { ...flag, description: 'Whether the engine of this server runs this format' },
    progress: { type: 'number', minimum: 0, maximum: 1 },
    downloaded_bytes: count,
    path: text,
    error: { ...text, description: 'Why its last download or start failed' },
    kind: { enum: ['chat', 'embedding', 'rerank', null], description: 'null: not downloaded' },
    loaded: { ...flag, description: 'Whether it is in memory' },
  },
  ['id', 'name', 'size_bytes', 'format', 'quantization', 'status'],
);

type ModelView = ValueOf<typeof model>;

export interface ModelSources {
  readonly models: ReadonlyMap<string, Model>;
  readonly local: ReadonlyMap<string, LocalModel>;
  readonly kinds: ReadonlyMap<string, ModelKind>;
  readonly remote: readonly RemoteModel[];
  readonly engine: ModelEngine | null;
}

interface Live {
  readonly downloads: Downloads;
  readonly pool: ModelPool;
}

/** Lists the catalogue, further models on the disk, and the models of an attached server. */
export function showModels(known: ModelSources, live: Live): ModelView[] {
  const notInCatalogue = [...known.local.values(), ...live.downloads.running()]
    .filter(({ id }) => !known.models.has(id))
    .map(unlisted);
  return [
    ...[...known.models.values(), ...notInCatalogue].map((model) => showModel(model, known, live)),
    ...known.remote.map((model) => showRemote(model, live)),
  ];
}

/** The description of a model on the disk that is no longer in the catalogue. */
export const unlisted = ({
  id,
  format,
  size,
}: Pick<LocalModel, 'id' | 'format' | 'size'>): Model => ({
  id,
  name: id.split('/')[1] ?? id,
  format,
  size,
  quantization: null,
  licence: null,
  context: null,
});

export function showModel(
  model: Model,
  { local, engine, kinds }: Pick<ModelSources, 'local' | 'engine' | 'kinds'>,
  { downloads, pool }: Live,
): ModelView {
  const here = local.get(model.id);
  const progress = downloads.progress(model.id);
  const problem = downloads.problem(model.id) ?? pool.problem(model.id);
  return {
    ...{
      id: model.id,
      name: model.name,
      size_bytes: here?.size ?? progress?.total ?? model.size,
      format: model.format,
      quantization: model.quantization,
    },
    status: isRunning(model.id, pool)
      ? 'running'
      : progress
        ? 'downloading'
        : here
          ? 'downloaded'
          : 'available',
    ...{
      licence: model.licence,
      context: model.context,
      runnable: engine?.formats.includes(model.format) ?? false,
      kind: here ? (kinds.get(model.id) ?? 'chat') : null,
      loaded: isRunning(model.id, pool),
    },
    ...(progress && {
      progress:
        progress.total === 0 ? 1 : Math.round((progress.bytes / progress.total) * 10_000) / 10_000,
      downloaded_bytes: progress.bytes,
    }),
    ...(here && { path: here.path }),
    ...(problem !== undefined && { error: problem }),
  };
}

export function showRemote({ id }: RemoteModel, { pool }: Pick<Live, 'pool'>): ModelView {
  const status = isRunning(id, pool) ? 'running' : 'downloaded';
  return {
    id,
    name: id,
    size_bytes: 0,
    format: 'remote',
    quantization: null,
    status,
    licence: null,
    context: null,
    runnable: true,
    kind: 'chat',
    loaded: status === 'running',
  };
}

function isRunning(id: string, pool: ModelPool): boolean {
  return pool.states().some(({ state, model }) => state === 'running' && model?.id === id);
}
