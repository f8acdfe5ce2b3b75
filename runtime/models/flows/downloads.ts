import { closed } from '@twofold/schema/shapes';
import { failure } from '@twofold/runtime/errors';
import { type Call, reply } from '@twofold/runtime/http';
import { isNamed } from '../keys/model-keys.ts';
import { readListed } from '../listed.ts';
import { MODEL_ID, type Model } from '../model.ts';
import { flow, id, type ModelState, ON_MACHINE, ON_MODEL } from './flow.ts';
import { model } from '../list.ts';
import { byId, idOf, inBody, ofOrganization, viewOf } from './models.ts';

const wanted = {
  file: { ...id, description: 'Of a repository with several models' },
  revision: { ...id, description: 'Branch, tag or commit' },
} as const;
const download = {
  needs: 'models:write',
  summary: 'Downloads a model, or continues an interrupted download',
  answers: {
    200: ['It was downloaded before', model],
    202: ['It is being downloaded', model],
  },
  refuses: ON_MACHINE,
  async handle(call: Call, state: ModelState) {
    const asked = idOf(call);
    if (!MODEL_ID.test(asked))
      throw failure.notFound('Model not found: an id has the form org/name');
    if (!isNamed(state.allow, asked)) throw failure.forbidden(`The policy does not allow ${asked}`);
    const found = toDownload(state, asked, call.body);
    const here = (await state.modelStore.models()).has(asked);
    if (!here) await state.downloads.begin(found);
    return reply(here ? 200 : 202, await viewOf(state, asked));
  },
} as const;
export const downloadModel = flow('POST /api/mlx/models/:id/download', {
  ...download,
  body: closed(wanted),
  optional: true,
  audit: byId,
});
export const downloadModelOf = flow('POST /api/mlx/models/:org/:name/download', {
  ...download,
  body: closed(wanted),
  optional: true,
  audit: { ...ofOrganization, action: 'downloadModel' },
});
export const pullModel = flow('POST /api/mlx/pull', {
  ...download,
  body: closed({ model: id, ...wanted }, ['model']),
  audit: inBody,
});

const cancel = {
  needs: 'models:write',
  summary: 'Cancels a download and removes its files',
  answers: { 200: ['The model', model] },
  refuses: ON_MODEL,
  async handle(call: Call, state: ModelState) {
    const asked = idOf(call);
    await viewOf(state, asked);
    if (!(await state.downloads.cancel(asked)))
      throw failure.conflict(`${asked} is not being downloaded`);
    return reply(200, await viewOf(state, asked));
  },
} as const;
export const cancelDownload = flow('DELETE /api/mlx/models/:id/download', {
  ...cancel,
  audit: byId,
});
export const cancelDownloadOf = flow('DELETE /api/mlx/models/:org/:name/download', {
  ...cancel,
  audit: { ...ofOrganization, action: 'cancelDownload' },
});

/** A model of the catalogue, or of any other id, with the file and revision of the request. */
function toDownload({ catalogue }: ModelState, asked: string, body: unknown): Model {
  const { file, revision } = (body ?? {}) as { file?: string; revision?: string };
  const known = catalogue.get(asked);
  if (known && file === undefined && revision === undefined) return known;
  const problems: string[] = [];
  const given = {
    id: asked,
    ...(file !== undefined && { file }),
    ...(revision !== undefined && { revision }),
  };
  const [read] = readListed([given], (line) => problems.push(line));
  if (read) return { ...known, ...read };
  throw failure.invalid(problems.join('; ').replace('hosting.models.list[0] ', ''));
}
