import { Readable } from 'node:stream';
import { failure } from '@twofold/runtime/errors';
import { type Call, type Reply, reply } from '@twofold/runtime/http';
import type { DeployRequest, StartedDeployment } from '../deploy/deployer.ts';
import type { AppSource, AppSpec, Deployment, GitSource, HostedApp } from '../records/app.ts';
import { changeSpec, newSpec, type SpecFields, toSpecFields } from '../records/fields.ts';
import { toEnv } from '../records/names.ts';
import { toFiles } from '../records/process-fields.ts';
import { parseGitUrl, resolveGitHost } from '../source/git-url.ts';
import type { RouteParts } from './apps.ts';
import { answer, imageOf, numberOf } from './deployments.ts';
import { deployGit, type SourceParts } from './git-deploys.ts';
import { eventStream, wantsEvents } from './sse.ts';
import { createUploadReader, type UploadConfig } from './upload-form.ts';

interface DeployBody {
  readonly image?: string;
  readonly git?: {
    readonly url: string;
    readonly ref?: string;
    readonly path?: string;
    readonly token?: string;
  };
  readonly git_url?: string;
  readonly branch?: string;
}

const UPLOAD_NOT_KEPT =
  'The last source was an upload that could not be built, and it is no longer kept: send it again with POST /api/deploy';

export function sourceHandlers(parts: SourceParts) {
  const { core, deployer, sources, buildLogs } = parts;
  const named = ({ params }: Call) => core.apps.byName(params['name'] as string);
  const readUpload = createUploadReader(sources);

  return {
    async deployApp(call: Call<DeployBody>): Promise<Reply> {
      const { started, wait } = await deploy(parts, named(call), call);
      return answer(started, { app: () => named(call), wait });
    },

    async deploySource(call: Call): Promise<Reply> {
      core.connection.engine();
      const { config, spool } = await readUpload(call);
      try {
        const given = await givenApp(parts, config);
        const received = await sources.plan(spool, given.spec.build);
        const app = await keepApp(parts, config, given);
        const started = await deployer.begin(app, {
          trigger: 'api',
          source: { kind: 'tarball', sha256: spool.sha256 },
          builds: true,
          prepare: sources.fromUpload(received),
        });
        const current = () => core.apps.byId(app.id) ?? app;
        return await answer(started, { app: current, wait: call.query.wait });
      } catch (error) {
        // Does nothing when the build has already removed it.
        await spool.remove();
        throw error;
      }
    },

    async deploymentLogs(call: Call): Promise<Reply> {
      const key = { app_id: named(call).id, number: numberOf(call) };
      const { build_log } = await core.deployments.get(key.app_id, key.number);
      const follow = wantsEvents(call) || call.query.follow === true;
      const live = follow ? buildLogs.follow(key, call.context.signal) : null;
      const lines = live ?? linesOf(build_log ?? buildLogs.peek(key));
      if (wantsEvents(call)) return eventStream(call, toEvents(lines));
      return reply(200, Readable.from(withLineEnds(lines)), {
        'Content-Type': 'text/plain; charset=utf-8',
        'Cache-Control': 'no-store',
      });
    },
  };
}

interface Deploying {
  readonly started: StartedDeployment;
  readonly wait: boolean;
}

/** Deploys the source in the body. An empty body means the last source that a user gave. */
async function deploy(
  parts: SourceParts,
  app: HostedApp,
  { body, query }: Call<DeployBody>,
): Promise<Deploying> {
  const { core, deployer } = parts;
  const given = gitOf(body);
  if (given && body.image !== undefined)
    throw failure.badRequest('image and git exclude each other: send one of them');
  const isEmpty = !given && body.image === undefined;
  const last = isEmpty ? await lastUserDeployment(core.deployments, app) : null;
  const git = given ?? (last?.source.kind === 'git' ? last.source : null);
  if (git) {
    // A host that cannot be resolved is reported now, and not by a deployment that fails later.
    await resolveGitHost(parseGitUrl(git.url, core.model.git), core.model.git);
    const options = { trigger: 'api', token: body.git?.token } as const;
    return { started: await deployGit(parts, app, git, options), wait: query.wait };
  }
  if (last?.source.kind === 'tarball' && last.image_id === null)
    return { started: await rebuildUpload(parts, app, last.source), wait: query.wait };
  const request =
    last?.source.kind === 'tarball'
      ? repeatUpload(parts, last)
      : imageRequest(parts, app, { body, last });
  return { started: await deployer.begin(app, request), wait: true };
}

/** Deploys the image of an upload again. An upload is kept only until it has been built. */
function repeatUpload({ deployer }: SourceParts, last: Deployment): DeployRequest {
  return { trigger: 'change', source: last.source, prepare: deployer.fromDeployment(last) };
}

/** Builds an upload again that could not be built. */
async function rebuildUpload(
  { deployer, sources }: SourceParts,
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
  { deployer }: SourceParts,
  app: HostedApp,
  { body, last }: { readonly body: DeployBody; readonly last: Deployment | null },
): DeployRequest {
  const template = last && 'image' in last.source ? last.source : null;
  const reference = imageOf(app, body.image ?? template?.image);
  return {
    trigger: 'api',
    source: template ?? { kind: 'image', image: reference },
    prepare: deployer.fromImage(reference),
  };
}

interface GivenApp {
  readonly known: HostedApp | undefined;
  readonly fields: SpecFields;
  readonly spec: AppSpec;
}

/** The app of an upload with the upload's configuration, of which nothing is kept yet. */
async function givenApp(
  { core, model, targets }: SourceParts,
  { name, env: _env, files: _files, ...fields }: UploadConfig,
): Promise<GivenApp> {
  const known = core.apps.all().find((app) => app.name === name);
  const given = await toSpecFields(fields, known?.spec);
  const spec = known ? changeSpec(known.spec, given) : newSpec(name, given, model);
  await targets.assertKnown(fields.backup?.target);
  return { known, fields: given, spec };
}

async function keepApp(
  { core }: SourceParts,
  { name, env, files }: UploadConfig,
  { known, fields, spec }: GivenApp,
): Promise<HostedApp> {
  if (!known)
    return core.apps.insert({
      ...{ name, spec, env: toEnv(env ?? {}), files: toFiles(files ?? []) },
    });
  const running = core.operations.running(known.id);
  if (running === 'build' || running === 'deploy')
    throw failure.conflict('Another operation is running on this app: deploy');
  // Somebody may have changed the app while its source was planned.
  const current = core.apps.byId(known.id) ?? known;
  return core.apps.update(known.id, {
    spec: changeSpec(current.spec, fields),
    ...(env && { env: toEnv(env) }),
    ...(files && { files: toFiles(files) }),
  });
}

/** The last deployment whose source came from a user, successful or not. */
async function lastUserDeployment(
  deployments: RouteParts['core']['deployments'],
  { id }: HostedApp,
): Promise<Deployment | null> {
  const all = await deployments.list(id, 100);
  return all.find(({ trigger }) => trigger !== 'rollback' && trigger !== 'change') ?? null;
}

function gitOf({ git, git_url, branch }: DeployBody): GitSource | null {
  const url = git?.url ?? git_url;
  if (url === undefined) return null;
  const ref = git?.ref ?? branch;
  return {
    kind: 'git',
    url,
    ...(ref !== undefined && { ref }),
    ...(git?.path !== undefined && { path: git.path }),
  };
}

async function* linesOf(text: string): AsyncGenerator<string> {
  yield* text.split('\n').slice(0, -1);
}

async function* withLineEnds(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield `${line}\n`;
}

async function* toEvents(lines: AsyncIterable<string>) {
  let id = 0;
  for await (const data of lines) yield { id: String((id += 1)), data };
}
