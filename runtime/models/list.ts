import type { Downloads } from './download/downloads.ts';
import type { ModelEngine, RemoteModel } from './engine/engine.ts';
import type { LocalModel, Model } from './model.ts';
import type { ModelKind } from './download/model-kind.ts';
import type { ModelPool } from './pool/model-pool.ts';

/** A model in API responses. */
export interface ModelView {
  readonly id: string;
  readonly name: string;
  readonly size_bytes: number;
  readonly format: Model['format'] | 'remote';
  readonly quantization: string | null;
  readonly status: 'available' | 'downloading' | 'downloaded' | 'running';
  readonly licence: string | null;
  readonly context: number | null;
  readonly runnable: boolean;
  /** What it is for; null until it is downloaded. */
  readonly kind: ModelKind | null;
  /** Whether it is in memory. */
  readonly loaded: boolean;
  /** Progress of a running download, from 0 to 1. */
  readonly progress?: number;
  readonly downloaded_bytes?: number;
  readonly path?: string;
  readonly error?: string;
}

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
