import { failure } from '@twofold/runtime/errors';
import { type Call, type Reply, reply } from '@twofold/runtime/http';
import type { Downloads } from './download/downloads.ts';
import type { ModelStore } from './download/model-store.ts';
import type { Choice, Chooser } from './engine/choose.ts';
import type { RemoteModel } from './engine/engine.ts';
import { type Known, showModel, showModels, showRemote, unlisted } from './list.ts';
import type { Model } from './model.ts';
import type { Gateway } from './gateway/gateway.ts';
import type { Runner } from './runner.ts';
import type { Supervisor } from './supervisor.ts';

export interface HandlerParts {
  readonly modelStore: ModelStore;
  readonly downloads: Downloads;
  readonly supervisor: Supervisor;
  readonly choose: Chooser;
  readonly catalogue: ReadonlyMap<string, Model>;
  readonly runner: Runner;
  readonly gateway: Gateway;
}

/** One handler for each of `modelRoutes`. */
export function modelHandlers(parts: HandlerParts) {
  const { supervisor, choose, gateway } = parts;
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
      const { state, model } = supervisor.now();
      return reply(200, {
        models,
        total: models.length,
        running: state === 'running' ? model?.id : null,
        state,
        ...engineOf(choice),
      });
    },
    ...{ getModel: show, getModelOf: show },
    ...{ downloadModel: download, downloadModelOf: download, pullModel: download },
    ...{ cancelDownload: cancel, cancelDownloadOf: cancel },
    ...{ deleteModel: remove, deleteModelOf: remove },
    ...{ startModel: start, runModel: start },
    stopModel: () => stopModel(parts),
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
): Promise<Known> {
  const none: readonly RemoteModel[] = [];
  const [local, remote] = await Promise.all([
    modelStore.models(),
    engine?.models?.().catch(() => none) ?? none,
  ]);
  return { models: catalogue, local, remote, engine };
}

async function viewOf(parts: HandlerParts, id: string) {
  const known = await knownOf(parts, await parts.choose());
  const here = known.local.get(id);
  const model = known.models.get(id) ?? (here && unlisted(here));
  if (model) return showModel(model, known, parts);
  const remote = known.remote.find((each) => each.id === id);
  if (!remote) throw failure.notFound('Model not found');
  return showRemote(remote, parts);
}

async function beginDownload(parts: HandlerParts, call: Call): Promise<Reply> {
  const id = idOf(call);
  const model = parts.catalogue.get(id);
  if (!model)
    throw failure.notFound(
      'Model not found: only what GET /api/mlx/models lists can be downloaded; add it to hosting.models.list',
    );
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
  if (parts.supervisor.now().model?.id === id)
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

async function stopModel(parts: HandlerParts): Promise<Reply> {
  const { model } = parts.supervisor.now();
  await parts.runner.stop();
  return reply(200, { status: 'stopped', model: model?.id ?? null });
}
