import { failure } from '@twofold/runtime/errors';
import { type Call, type Reply, reply } from '@twofold/runtime/http';
import type { Previews } from '../previews/previews.ts';
import type { GitSource, HostedApp } from '../records/app.ts';
import { assertImage } from '../records/names.ts';
import { parsePreviewKey } from '../records/previews.ts';
import { showApp, type ViewContext } from '../records/view.ts';
import { assertGitRef, parseGitUrl, resolveGitHost } from '../source/git-url.ts';
import { deployGit, type SourceParts } from './git-deploys.ts';

interface PreviewBody {
  readonly key: string;
  readonly image?: string;
  readonly git?: Omit<GitSource, 'kind' | 'commit'> & { readonly token?: string };
  readonly expires_in?: string;
}

/** Routes for previews that are made by hand or by a build server. */
export function previewHandlers(parts: SourceParts, previews: Previews) {
  const { core, model, addressOf } = parts;
  const named = ({ params }: Call) => core.apps.byName(params['name'] as string);
  const shown: ViewContext = { addressOf, port: model.defaults.port };
  const view = (app: HostedApp) => showApp(core.apps.byId(app.id) ?? app, shown);
  return {
    listPreviews(call: Call) {
      const list = previews.of(named(call)).map(view);
      return reply(200, { previews: list, total: list.length });
    },

    async createPreview({ body, ...call }: Call<PreviewBody>): Promise<Reply> {
      const app = named(call as Call);
      const key = parsePreviewKey(body.key);
      if ((body.image === undefined) === (body.git === undefined))
        throw failure.badRequest('image or git is required, and not both');
      core.connection.engine();
      const request = { key, expiresIn: body.expires_in };
      const [status, made] =
        body.image === undefined
          ? await fromGit(parts, previews, { ...request, app, git: body.git as GitBody })
          : await fromImage(parts, previews, { ...request, app, image: body.image });
      return reply(status, view(made));
    },

    async deletePreview(call: Call) {
      const preview = previews.find(named(call), parsePreviewKey(call.params['key'] as string));
      if (!preview) throw failure.notFound('Preview not found');
      await previews.remove(preview);
      return reply(200, { status: 'deleted' });
    },
  };
}

type GitBody = NonNullable<PreviewBody['git']>;

interface PreviewRequest {
  readonly app: HostedApp;
  readonly key: string;
  readonly expiresIn: string | undefined;
}

async function fromImage(
  { deployer }: SourceParts,
  previews: Previews,
  { app, image, ...request }: PreviewRequest & { readonly image: string },
): Promise<[number, HostedApp]> {
  assertImage(image);
  const preview = (await previews.prepare(app, { ...request, ref: null, image })) as HostedApp;
  await deployer.first(preview, {
    trigger: 'api',
    source: { kind: 'image', image },
    prepare: deployer.fromImage(image),
  });
  return [201, preview];
}

async function fromGit(
  parts: SourceParts,
  previews: Previews,
  { app, git: { token, ...git }, ...request }: PreviewRequest & { readonly git: GitBody },
): Promise<[number, HostedApp]> {
  const { model } = parts;
  if (git.ref !== undefined) assertGitRef(git.ref);
  await resolveGitHost(parseGitUrl(git.url, model.git), model.git);
  const preview = (await previews.prepare(app, { ...request, ref: git.ref ?? null })) as HostedApp;
  const source = { ...git, kind: 'git' } as const;
  const { done } = await deployGit(parts, preview, source, { trigger: 'api', token });
  // The deployment's record has the reason of a failure.
  done.catch(() => {});
  return [202, preview];
}
