import { failure } from '@twofold/runtime/errors';
import { closed, type ValueOf } from '@twofold/schema/shapes';
import type { Call } from '@twofold/runtime/http';
import type { DeployRequest, StartedDeployment } from '../deploy/deployer.ts';
import { deployGit } from './deploy-git.ts';
import type { Leader } from '../leader.ts';
import type { AppSource, Deployment, GitSource, HostedApp } from '../records/app.ts';
import { image } from '../records/app-shape.ts';
import { assertImage } from '../records/names.ts';
import { parseGitUrl, resolveGitHost } from '../source/git-url.ts';
import { answer, deployment } from './deployments.ts';
import { flow, ON_ENGINE, wait } from './flow.ts';

export const git = closed(
  {
    url: { type: 'string', minLength: 1, maxLength: 2000 },
    ref: { type: 'string', minLength: 1, maxLength: 200 },
    path: { type: 'string', maxLength: 500 },
    token: { type: 'string', maxLength: 4000 },
  },
  ['url'],
);
export type GitFields = ValueOf<typeof git>;

const body = closed({
  image,
  git,
  git_url: { type: 'string', minLength: 1, maxLength: 2000 },
  branch: { type: 'string', minLength: 1, maxLength: 200 },
});
type DeployBody = ValueOf<typeof body>;

export const answers = {
  200: ['The deployment, which serves', deployment],
  202: ['The deployment, which is being built', deployment],
} as const;

const UPLOAD_NOT_KEPT =
  'The last source was an upload that could not be built, and it is no longer kept: send it again with POST /api/deploy';

export const deployApp = flow('POST /api/apps/:name/deploy', {
  needs: 'apps:write',
  summary: 'Deploys an image, or builds and deploys from git',
  audit: { values: ['image', 'deployment'] },
  query: wait,
  body,
  optional: true,
  answers,
  refuses: [...ON_ENGINE, 422],
  async handle(call, leader) {
    const app = () => leader.apps.byName(call.params.name);
    const { started, wait: waits } = await deploy(leader, app(), call);
    return answer(started, { app, wait: waits });
  },
});

interface Deploying {
  readonly started: StartedDeployment;
  readonly wait: boolean;
}

/** Deploys the source in the body. An empty body means the last source that a user gave. */
async function deploy(
  leader: Leader,
  app: HostedApp,
  { body: asked, query }: Call<DeployBody>,
): Promise<Deploying> {
  const { deployer, deployments, model } = leader;
  const given = gitOf(asked);
  if (given && asked.image !== undefined)
    throw failure.badRequest('image and git exclude each other: send one of them');
  const isEmpty = !given && asked.image === undefined;
  const last = isEmpty ? await lastUserDeployment(deployments, app) : null;
  const source = given ?? (last?.source.kind === 'git' ? last.source : null);
  if (source) {
    // A host that cannot be resolved is reported now, and not by a deployment that fails later.
    await resolveGitHost(parseGitUrl(source.url, model.git), model.git);
    const options = { trigger: 'api', token: asked.git?.token } as const;
    return { started: await deployGit(leader, app, source, options), wait: query.wait };
  }
  if (last?.source.kind === 'tarball' && last.image_id === null)
    return { started: await rebuildUpload(leader, app, last.source), wait: query.wait };
  const request =
    last?.source.kind === 'tarball'
      ? // An upload is kept only until it has been built: its image is deployed again.
        ({ trigger: 'change', ...deployer.again(last) } as const)
      : imageRequest(leader, app, { asked, last });
  return { started: await deployer.begin(app, request), wait: true };
}

/** Builds an upload again that could not be built. */
async function rebuildUpload(
  { deployer, sources }: Leader,
  app: HostedApp,
  source: AppSource,
): Promise<StartedDeployment> {
  const received = await sources.lastUpload(app);
  if (!received) throw failure.badRequest(UPLOAD_NOT_KEPT);
  const prepare = sources.fromUpload(received);
  return deployer
    .begin(app, { trigger: 'api', source, builds: true, prepare })
    .catch(async (error: unknown) => {
      await received.spool.remove();
      throw error;
    });
}

function imageRequest(
  { deployer }: Leader,
  app: HostedApp,
  { asked, last }: { readonly asked: DeployBody; readonly last: Deployment | null },
): DeployRequest {
  const template = last && 'image' in last.source ? last.source : null;
  const reference = imageOf(app, asked.image ?? template?.image);
  return {
    trigger: 'api',
    ...deployer.ofImage(reference),
    ...(template && { source: template }),
  };
}

/** The last deployment whose source came from a user, successful or not. */
async function lastUserDeployment(
  deployments: Leader['deployments'],
  { id }: HostedApp,
): Promise<Deployment | null> {
  const all = await deployments.list(id, 100);
  return all.find(({ trigger }) => trigger !== 'rollback' && trigger !== 'change') ?? null;
}

function gitOf({ git: given, git_url, branch }: DeployBody): GitSource | null {
  const url = given?.url ?? git_url;
  if (url === undefined) return null;
  const ref = given?.ref ?? branch;
  return {
    kind: 'git',
    url,
    ...(ref !== undefined && { ref }),
    ...(given?.path !== undefined && { path: given.path }),
  };
}

/** The image to deploy: the one in the body, or the app's current one. */
function imageOf(app: HostedApp, given: string | undefined): string {
  const reference =
    given ?? (app.spec.source === null || app.spec.source.kind === 'image' ? app.spec.image : null);
  if (!reference) throw failure.badRequest('No image specified');
  assertImage(reference);
  return reference;
}
