import { failure } from '@twofold/runtime/errors';
import { closed, listed } from '@twofold/schema/shapes';
import { reply } from '@twofold/runtime/http';
import { deployGit } from './deploy-git.ts';
import type { Leader } from '../leader.ts';
import type { HostedApp } from '../records/app.ts';
import { app, image, lifetime } from '../records/app-shape.ts';
import { assertImage } from '../records/names.ts';
import { parsePreviewKey } from '../records/previews.ts';
import { showApp } from '../records/view.ts';
import { assertGitRef, parseGitUrl, resolveGitHost } from '../source/git-url.ts';
import { git as gitShape, type GitFields } from './deploy-app.ts';
import { deleted, flow, ON_APP, ON_ENGINE } from './flow.ts';

export const listPreviews = flow('GET /api/apps/:name/previews', {
  needs: 'apps:read',
  summary: 'Lists the previews of an app',
  answers: { 200: ['The previews, which are apps', listed('previews', app)] },
  refuses: ON_APP,
  handle({ params }, { apps, previews, shown }) {
    const found = previews.of(apps.byName(params.name)).map((each) => showApp(each, shown));
    return reply(200, { previews: found, total: found.length });
  },
});

export const createPreview = flow('POST /api/apps/:name/previews', {
  needs: 'apps:write',
  summary: 'Makes a preview from an image or from git, or updates the one with this key',
  audit: { target: '{name}-pr-{key}', values: ['image'] },
  body: closed(
    {
      key: { type: 'string', minLength: 1, maxLength: 60 },
      image,
      git: gitShape,
      expires_in: { type: 'string', pattern: lifetime },
    },
    ['key'],
  ),
  answers: {
    201: ['The app, which serves', app],
    202: ['The app, which is being built', app],
  },
  refuses: [...ON_ENGINE, 422],
  async handle({ params, body }, leader) {
    const { apps, connection, shown } = leader;
    const { image: wanted, git, expires_in: expiresIn } = body;
    const of = apps.byName(params.name);
    const request = { of, key: parsePreviewKey(body.key), expiresIn };
    if ((wanted === undefined) === (git === undefined))
      throw failure.badRequest('image or git is required, and not both');
    connection.engine();
    const [status, made] = git
      ? await fromGit(leader, git, request)
      : await fromImage(leader, wanted as string, request);
    return reply(status, showApp(apps.byId(made.id) ?? made, shown));
  },
});

export const deletePreview = flow('DELETE /api/apps/:name/previews/:key', {
  needs: 'apps:write',
  summary: 'Deletes a preview with its volumes',
  audit: { target: '{name}-pr-{key}' },
  answers: { 200: ['It was removed'] },
  refuses: ON_ENGINE,
  async handle({ params: { name, key } }, { apps, previews }) {
    const preview = previews.find(apps.byName(name), parsePreviewKey(key));
    if (!preview) throw failure.notFound('Preview not found');
    await previews.remove(preview);
    return deleted();
  },
});

interface PreviewRequest {
  readonly of: HostedApp;
  readonly key: string;
  readonly expiresIn: string | undefined;
}

async function fromImage(
  { previews, deployer }: Leader,
  reference: string,
  { of, ...request }: PreviewRequest,
): Promise<[number, HostedApp]> {
  assertImage(reference);
  const asked = { ...request, ref: null, image: reference };
  const preview = (await previews.prepare(of, asked)) as HostedApp;
  await deployer.first(preview, { trigger: 'api', ...deployer.ofImage(reference) });
  return [201, preview];
}

async function fromGit(
  leader: Leader,
  { token, ...git }: GitFields,
  { of, ...request }: PreviewRequest,
): Promise<[number, HostedApp]> {
  const { model, previews } = leader;
  if (git.ref !== undefined) assertGitRef(git.ref);
  await resolveGitHost(parseGitUrl(git.url, model.git), model.git);
  const preview = (await previews.prepare(of, { ...request, ref: git.ref ?? null })) as HostedApp;
  const source = { ...git, kind: 'git' } as const;
  const { done } = await deployGit(leader, preview, source, { trigger: 'api', token });
  // The deployment's record has the reason of a failure.
  done.catch(() => {});
  return [202, preview];
}
