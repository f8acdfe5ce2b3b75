import { totalmem } from 'node:os';
import { closed, count, flag, list, object, orNull, text } from '@twofold/schema/shapes';
import { failure } from '@twofold/runtime/errors';
import { type Call, reply } from '@twofold/runtime/http';
import { kindOf } from '../download/model-kind.ts';
import type { Choice } from '../engine/choose.ts';
import type { RemoteModel } from '../engine/engine.ts';
import { model, type ModelSources, showModel, showModels, showRemote, unlisted } from '../list.ts';
import { flow, id, type ModelState, ON_MACHINE, ON_MODEL, USUAL } from './flow.ts';

/**
 * A model's id contains a slash, which may be percent-encoded (`org%2Fname`) or not, so each path
 * with an id is there twice.
 */
export const ofOrganization = { target: '{org}/{name}' } as const;
export const byId = { target: '{id}' } as const;
export const inBody = { target: '{model}' } as const;

const sizes = { total: count, free: count } as const;
const modelList = object(
  {
    models: list(model),
    total: count,
    running: {
      ...orNull('string'),
      description: 'The model that was used last of those in memory',
    },
    memory: object({
      ram: object(sizes),
      gpus: list(object({ name: text, ...sizes })),
      layers_on_gpu: { ...count, description: 'Of all models in memory' },
    }),
    engine: { enum: ['mlx', 'llamacpp', 'openai', null] },
    eligible: flag,
    reason: { ...text, description: 'Why no model can run on this server' },
    state: { enum: ['stopped', 'starting', 'running', 'restarting'] },
  },
  ['models', 'running', 'engine', 'eligible'],
);

export const listModels = flow('GET /api/mlx/models', {
  needs: 'models:read',
  summary: 'Lists the models, and whether they can run on this server',
  query: {
    format: { type: 'string', enum: ['gguf', 'mlx', 'remote'] },
    status: { type: 'string', enum: ['available', 'downloading', 'downloaded', 'running'] },
  },
  answers: { 200: ['The models', modelList] },
  refuses: USUAL,
  async handle({ query }, state) {
    const choice = await state.choose();
    const all = showModels(await knownOf(state, choice), state);
    const models = all.filter(
      ({ format, status }) =>
        (query.format === undefined || format === query.format) &&
        (query.status === undefined || status === query.status),
    );
    const [latest] = state.pool.states();
    return reply(200, {
      models,
      total: models.length,
      running: latest?.state === 'running' ? latest.model?.id : null,
      state: latest?.state ?? 'stopped',
      memory: await memoryView(state),
      ...engineOf(choice),
    });
  },
});

const show = {
  needs: 'models:read',
  summary: 'Returns one model',
  answers: { 200: ['The model', model] },
  refuses: ON_MODEL,
  handle: async (call: Call, state: ModelState) => reply(200, await viewOf(state, idOf(call))),
} as const;
export const getModel = flow('GET /api/mlx/models/:id', show);
export const getModelOf = flow('GET /api/mlx/models/:org/:name', show);

const remove = {
  needs: 'models:write',
  summary: 'Removes a model from the disk',
  answers: { 200: ['It was removed', model] },
  refuses: ON_MODEL,
  async handle(call: Call, state: ModelState) {
    const { pool, downloads, modelStore } = state;
    const asked = idOf(call);
    await viewOf(state, asked);
    if (pool.states().some((each) => each.model?.id === asked))
      throw failure.conflict(`${asked} is running: POST /api/mlx/stop`);
    const cancelled = await downloads.cancel(asked);
    const here = (await modelStore.models()).has(asked);
    if (here) await modelStore.remove(asked);
    if (!here && !cancelled) throw failure.notFound(`${asked} is not downloaded`);
    return reply(200, { id: asked, status: 'deleted' });
  },
} as const;
export const deleteModel = flow('DELETE /api/mlx/models/:id', { ...remove, audit: byId });
export const deleteModelOf = flow('DELETE /api/mlx/models/:org/:name', {
  ...remove,
  audit: { ...ofOrganization, action: 'deleteModel' },
});

const start = {
  needs: 'models:write',
  summary: 'Loads a model, and responds when it is ready',
  body: closed({ model: id }, ['model']),
  audit: inBody,
  answers: { 200: ['The model', model] },
  refuses: ON_MACHINE,
  async handle(call: Call, state: ModelState) {
    const asked = idOf(call);
    await state.runner.start(asked);
    return reply(200, await viewOf(state, asked));
  },
} as const;
export const startModel = flow('POST /api/mlx/start', start);
export const runModel = flow('POST /api/mlx/run', start);

export const stopModel = flow('POST /api/mlx/stop', {
  needs: 'models:write',
  summary: 'Unloads one model, or all',
  audit: inBody,
  body: closed({ model: id }),
  optional: true,
  answers: { 200: ['It was stopped', model] },
  refuses: USUAL,
  async handle({ body }, { runner }) {
    const stopped = await runner.stop(body.model);
    return reply(200, { status: 'stopped', model: stopped[0] ?? null, models: stopped });
  },
});

const engineOf = ({ engine, reason }: Choice) => ({
  engine: engine?.name ?? null,
  eligible: engine !== null,
  ...(reason !== null && { reason }),
});

/** The id of a model, from the path (`org%2Fname` or `org/name`) or from `model` in the body. */
export function idOf({ params, body }: Call): string {
  const { id: whole, org, name } = params;
  return (
    whole ??
    (org === undefined
      ? String((body as { model?: unknown } | undefined)?.model ?? '')
      : `${org}/${name}`)
  );
}

async function knownOf(
  { modelStore, catalogue }: ModelState,
  { engine }: Choice,
): Promise<ModelSources> {
  const none: readonly RemoteModel[] = [];
  const [local, remote] = await Promise.all([
    modelStore.models(),
    engine?.models?.().catch(() => none) ?? none,
  ]);
  const kinds = await Promise.all(
    [...local.values()].map(async (each) => [each.id, await kindOf(each)] as const),
  );
  return { models: catalogue, local, remote, engine, kinds: new Map(kinds) };
}

export async function viewOf(state: ModelState, asked: string) {
  const known = await knownOf(state, await state.choose());
  const here = known.local.get(asked);
  const arriving = state.downloads.running().find((plan) => plan.id === asked);
  const unknown = here ?? arriving;
  const found = known.models.get(asked) ?? (unknown && unlisted(unknown));
  if (found) return showModel(found, known, state);
  const remote = known.remote.find((each) => each.id === asked);
  if (!remote) throw failure.notFound('Model not found');
  return showRemote(remote, state);
}

async function memoryView({ gpus, memory, pool }: ModelState) {
  const layers = pool.states().map(({ endpoint }) => endpoint?.layersOnGpu ?? 0);
  return {
    ram: { total: totalmem(), free: memory() },
    gpus: await gpus.look(),
    layers_on_gpu: layers.reduce((sum, each) => sum + each, 0),
  };
}
