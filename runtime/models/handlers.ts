import { totalmem } from 'node:os';
import { failure } from '@twofold/runtime/errors';
import { type Call, type Reply, reply } from '@twofold/runtime/http';
import type { Downloads } from './download/downloads.ts';
import type { ModelStore } from './download/model-store.ts';
import type { Choice, Chooser } from './engine/choose.ts';
import type { RemoteModel } from './engine/engine.ts';
import { type ModelSources, showModel, showModels, showRemote, unlisted } from './list.ts';
import { MODEL_ID, type Model } from './model.ts';
import type { Gateway } from './gateway/gateway.ts';
import type { Runner } from './runner.ts';
import { isNamed } from './keys/model-keys.ts';
import { readListed } from './listed.ts';
import type { Gpus } from './pool/gpus.ts';
import type { ModelPool } from './pool/model-pool.ts';
import { kindOf } from './download/model-kind.ts';

export interface HandlerParts {
  readonly modelStore: ModelStore;
  readonly downloads: Downloads;
  readonly pool: ModelPool;
  readonly gpus: Gpus;
  /** Available memory in bytes. */
  readonly memory: () => number;
  /** Ids that may be downloaded. */
  readonly allow: readonly string[];
  readonly choose: Chooser;
  readonly catalogue: ReadonlyMap<string, Model>;
  readonly runner: Runner;
  readonly gateway: Gateway;
}

/** One handler for each of `modelRoutes`. */
export function modelHandlers(parts: HandlerParts) {
  const { pool, choose, gateway } = parts;
  const show = async (call: Call) => reply(200, await viewOf(parts, idOf(call)));
  const download = (call: Call) => beginDownload(parts, call);
  const cancel = (call: Call) => cancelDownload(parts, call);
  const remove = (call: Call) => removeModel(parts, call);
  const start = (call: Call) => startModel(parts, call);
  return {
    async listModels({ query }: Call) {
      const choice = await choose();
      const all = showModels(await knownOf(parts, choice), parts);
      const models = all.filter(
        ({ format, status }) =>
          (query.format === undefined || format === query.format) &&
          (query.status === undefined || status === query.status),
      );
      const [latest] = pool.states();
      return reply(200, {
        models,
        total: models.length,
        running: latest?.state === 'running' ? latest.model?.id : null,
        state: latest?.state ?? 'stopped',
        memory: await memoryView(parts),
        ...engineOf(choice),
      });
    },
    ...{ getModel: show, getModelOf: show },
    ...{ downloadModel: download, downloadModelOf: download, pullModel: download },
    ...{ cancelDownload: cancel, cancelDownloadOf: cancel },
    ...{ deleteModel: remove, deleteModelOf: remove },
    ...{ startModel: start, runModel: start },
    stopModel: (call: Call) => stopModel(parts, call),
    ...{ askModel: gateway.pass, promptModel: gateway.pass },
  };
}

const engineOf = ({ engine, reason }: Choice) => ({
  engine: engine?.name ?? null,
  eligible: engine !== null,
  ...(reason !== null && { reason }),
});

/** The id of a model, from the path (`org%2Fname` or `org/name`) or from `model` in the body. */
function idOf({ params, body }: Call): string {
  const { id, org, name } = params;
  return (
    id ??
    (org === undefined
      ? String((body as { model?: unknown } | undefined)?.model ?? '')
      : `${org}/${name}`)
  );
}

async function knownOf(
  { modelStore, catalogue }: HandlerParts,
  { engine }: Choice,
): Promise<ModelSources> {
  const none: readonly RemoteModel[] = [];
  const [local, remote] = await Promise.all([
    modelStore.models(),
    engine?.models?.().catch(() => none) ?? none,
  ]);
  const kinds = await Promise.all(
    [...local.values()].map(async (model) => [model.id, await kindOf(model)] as const),
  );
  return { models: catalogue, local, remote, engine, kinds: new Map(kinds) };
}

async function viewOf(parts: HandlerParts, id: string) {
  const known = await knownOf(parts, await parts.choose());
  const here = known.local.get(id);
  const arriving = parts.downloads.running().find((plan) => plan.id === id);
  const found = here ?? arriving;
  const model = known.models.get(id) ?? (found && unlisted(found));
  if (model) return showModel(model, known, parts);
  const remote = known.remote.find((each) => each.id === id);
  if (!remote) throw failure.notFound('Model not found');
  return showRemote(remote, parts);
}

async function beginDownload(parts: HandlerParts, call: Call): Promise<Reply> {
  const id = idOf(call);
  if (!MODEL_ID.test(id)) throw failure.notFound('Model not found: an id has the form org/name');
  if (!isNamed(parts.allow, id)) throw failure.forbidden(`The policy does not allow ${id}`);
  const model = toDownload(parts, id, call.body);
  const here = (await parts.modelStore.models()).has(id);
  if (!here) await parts.downloads.begin(model);
  return reply(here ? 200 : 202, await viewOf(parts, id));
}

async function cancelDownload(parts: HandlerParts, call: Call): Promise<Reply> {
  const id = idOf(call);
  await viewOf(parts, id);
  if (!(await parts.downloads.cancel(id))) throw failure.conflict(`${id} is not being downloaded`);
  return reply(200, await viewOf(parts, id));
}

async function removeModel(parts: HandlerParts, call: Call): Promise<Reply> {
  const id = idOf(call);
  await viewOf(parts, id);
  if (parts.pool.states().some(({ model }) => model?.id === id))
    throw failure.conflict(`${id} is running: POST /api/mlx/stop`);
  const cancelled = await parts.downloads.cancel(id);
  const here = (await parts.modelStore.models()).has(id);
  if (here) await parts.modelStore.remove(id);
  if (!here && !cancelled) throw failure.notFound(`${id} is not downloaded`);
  return reply(200, { id, status: 'deleted' });
}

async function startModel(parts: HandlerParts, call: Call): Promise<Reply> {
  const id = idOf(call);
  await parts.runner.start(id);
  return reply(200, await viewOf(parts, id));
}

async function stopModel({ runner }: HandlerParts, { body }: Call): Promise<Reply> {
  const { model } = (body ?? {}) as { model?: string };
  const stopped = await runner.stop(model);
  return reply(200, { status: 'stopped', model: stopped[0] ?? null, models: stopped });
}

/** A model of the catalogue, or of any other id, with the file and revision of the request. */
function toDownload({ catalogue }: HandlerParts, id: string, body: unknown): Model {
  const { file, revision } = (body ?? {}) as { file?: string; revision?: string };
  const known = catalogue.get(id);
  if (known && file === undefined && revision === undefined) return known;
  const problems: string[] = [];
  const given = {
    id,
    ...(file !== undefined && { file }),
    ...(revision !== undefined && { revision }),
  };
  const [model] = readListed([given], (line) => problems.push(line));
  if (model) return { ...known, ...model };
  throw failure.invalid(problems.join('; ').replace('hosting.models.list[0] ', ''));
}

async function memoryView({ gpus, memory, pool }: HandlerParts) {
  const layers = pool.states().map(({ endpoint }) => endpoint?.layersOnGpu ?? 0);
  return {
    ram: { total: totalmem(), free: memory() },
    gpus: await gpus.look(),
    layers_on_gpu: layers.reduce((sum, count) => sum + count, 0),
  };
}
