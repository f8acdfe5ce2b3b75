import { Readable } from 'node:stream';
import { hostingRoutes, type JsonSchema } from '@twofold/schema';
import { failure } from '@twofold/runtime/errors';
import { validator } from '../validator.ts';
import { type Call, type Reply, createChecks, reply } from '@twofold/runtime/http';
import type { BuildLogs } from '../deploy/build-logs.ts';
import type { SourceDeploys } from '../deploy/source-deploys.ts';
import type { HostedApp, Deployment, AppSource, Trigger } from '../records/app.ts';
import { changeSpec, newSpec, toEnv, type AppFields } from '../records/fields.ts';
import { assertAppName } from '../records/names.ts';
import { gitTokenKey, type Vault } from '../records/vault.ts';
import { bytesOf } from '@twofold/runtime/http';
import { assertGitRef, parseGitUrl, resolveGitHost } from '../source/git-url.ts';
import { readForm } from '../source/multipart.ts';
import { sourceFolder } from '../source/plan.ts';
import type { RouteParts } from './apps.ts';
import { answer, imageOf, numberOf } from './deployments.ts';
import { eventStream, wantsEvents } from './sse.ts';

type GitSource = Extract<AppSource, { kind: 'git' }>;
type Config = AppFields & { readonly name: string };

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

export interface SourceParts extends RouteParts {
  readonly sources: SourceDeploys;
  readonly buildLogs: BuildLogs;
  readonly vault: Vault;
}

const CONFIG_BYTES = 256 * 1024;

export function sourceHandlers(parts: SourceParts) {
  const { core, deployer, sources, buildLogs, model } = parts;
  const named = ({ params }: Call) => core.apps.byName(params['name'] as string);
  const checkConfig = createChecks(validator).body(configSchema());

  return {
    async deployApp(call: Call<DeployBody>): Promise<Reply> {
      const app = named(call);
      const given = gitOf(call.body);
      if (given && call.body.image !== undefined)
        throw failure.badRequest('image and git exclude each other');
      const last =
        given || call.body.image !== undefined ? null : await lastGiven(core.deployments, app);
      const git = given ?? (last?.source.kind === 'git' ? last.source : null);
      // Said at once, and not by a deployment that fails later.
      if (git) await resolveGitHost(parseGitUrl(git.url, model.git), model.git);
      if (git)
        return answer(
          await deployGit(parts, app, git, { trigger: 'api', token: call.body.git?.token }),
          { app: () => named(call), wait: call.query.wait },
        );
      if (last?.source.kind === 'tarball') {
        if (last.image_id === null) throw failure.badRequest(SEND_AGAIN);
        const prepare = deployer.fromDeployment(last);
        const begun = await deployer.begin(app, {
          trigger: 'change',
          source: last.source,
          prepare,
        });
        return answer(begun, { app: () => named(call), wait: true });
      }
      const template = last && 'image' in last.source ? last.source : null;
      const image = imageOf(app, call.body.image ?? template?.image);
      const begun = await deployer.begin(app, {
        trigger: 'api',
        source: template ?? { kind: 'image', image },
        prepare: deployer.fromImage(image),
      });
      return answer(begun, { app: () => named(call), wait: true });
    },

    async deploySource(call: Call): Promise<Reply> {
      core.connection.engine();
      const upload = await receive(call, sources, checkConfig);
      try {
        const app = await intoApp(upload.config);
        const source = { kind: 'tarball', sha256: upload.received.spool.sha256 } as const;
        const begun = await deployer.begin(app, {
          trigger: 'api',
          source,
          builds: true,
          prepare: sources.fromUpload(upload.received),
        });
        return await answer(begun, {
          app: () => core.apps.byId(app.id) ?? app,
          wait: call.query.wait,
        });
      } catch (error) {
        // A second removal of what the build has removed already does nothing.
        await upload.received.spool.remove();
        throw error;
      }
    },

    async deploymentLogs(call: Call): Promise<Reply> {
      const app = named(call);
      const key = { app_id: app.id, number: numberOf(call) };
      const deployment = await core.deployments.get(key.app_id, key.number);
      const live =
        wantsEvents(call) || call.query.follow === true
          ? buildLogs.follow(key, call.context.signal)
          : null;
      const lines = live ?? fromText(deployment.build_log ?? buildLogs.peek(key));
      if (wantsEvents(call)) return eventStream(call, numbered(lines));
      return reply(200, Readable.from(withEnds(lines)), {
        'Content-Type': 'text/plain; charset=utf-8',
        'Cache-Control': 'no-store',
      });
    },
  };

  async function intoApp({ name, env, ...fields }: Config): Promise<HostedApp> {
    const known = core.apps.all().find((app) => app.name === name);
    if (!known)
      return core.apps.insert({ name, spec: newSpec(name, fields, model), env: toEnv(env ?? {}) });
    if (
      core.operations.running(known.id) === 'build' ||
      core.operations.running(known.id) === 'deploy'
    ) {
      throw failure.conflict('Another operation is running on this app: deploy');
    }
    return core.apps.update(known.id, {
      spec: changeSpec(known.spec, fields),
      ...(env && { env: toEnv(env) }),
    });
  }
}

const SEND_AGAIN =
  'The last source was an upload that could not be built, and uploads are not kept: send it again with POST /api/deploy';

/** The last deployment whose source somebody gave, whatever became of it. */
async function lastGiven(
  deployments: RouteParts['core']['deployments'],
  { id }: HostedApp,
): Promise<Deployment | null> {
  const all = await deployments.list(id, 100);
  return all.find(({ trigger }) => trigger !== 'rollback' && trigger !== 'change') ?? null;
}

/** Builds and deploys what git has. The token is kept, sealed, for the next time. */
export async function deployGit(
  { core, deployer, sources, vault }: SourceParts,
  app: HostedApp,
  git: GitSource,
  { trigger, token }: { trigger: Trigger; token?: string | undefined },
) {
  parseGitUrl(git.url, core.model.git);
  if (git.ref !== undefined) assertGitRef(git.ref);
  sourceFolder(git.path ?? '');
  const known = await keptToken({ core, vault }, app, { url: git.url, token });
  const { commit: _commit, ...source } = git;
  return deployer.begin(app, {
    trigger,
    source,
    builds: true,
    prepare: sources.fromGit({ source, token: known }),
  });
}

/** The token for this deploy. A kept one goes to the host that it was given for, and to no other. */
async function keptToken(
  { core, vault }: Pick<SourceParts, 'core' | 'vault'>,
  app: HostedApp,
  { url, token }: { readonly url: string; readonly token: string | undefined },
): Promise<string | undefined> {
  const hostOf = (address: string) => new URL(parseGitUrl(address, core.model.git).url).host;
  const key = gitTokenKey(app.id);
  if (token !== undefined) {
    await vault.set(key, JSON.stringify({ host: hostOf(url), token }));
    return token;
  }
  const kept = await vault.get(key);
  if (kept === undefined) return undefined;
  if (kept.startsWith('{"host":')) {
    const known = JSON.parse(kept) as { readonly host: string; readonly token: string };
    return known.host === hostOf(url) ? known.token : undefined;
  }
  // An earlier version kept the token alone: it was for the host that the app comes from.
  const { source } = app.spec;
  return source?.kind === 'git' && hostOf(source.url) === hostOf(url) ? kept : undefined;
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

/** Reads the form as it comes: the archive is checked while it is sent, whichever part is first. */
async function receive({ koa }: Call, sources: SourceDeploys, check: (value: unknown) => unknown) {
  const bytes = bytesOf(koa.req);
  let config: Config | undefined;
  let received: Awaited<ReturnType<SourceDeploys['receive']>> | undefined;
  try {
    for await (const { name, data } of readForm(bytes, koa.get('Content-Type'))) {
      if (name === 'config' && !config) config = check(parseConfig(await collect(data))) as Config;
      else if (name === 'source' && !received) received = await sources.receive(data);
      else throw failure.badRequest(`${name.slice(0, 100)} is not a known field`);
    }
    if (!config) throw failure.badRequest('config is required');
    if (!received) throw failure.badRequest('source is required');
    assertAppName(config.name);
    return { config, received };
  } catch (error) {
    await received?.spool.remove();
    throw error;
  } finally {
    void bytes.return(undefined);
  }
}

async function collect(data: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of data) {
    length += chunk.length;
    if (length > CONFIG_BYTES) throw failure.tooLarge('config is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parseConfig(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw failure.badRequest('config is not valid JSON');
  }
}

function configSchema(): JsonSchema {
  const route = hostingRoutes.find(({ id }) => id === 'deploySource') as {
    body: { schema: { properties: { config: { contentSchema: JsonSchema } } } };
  };
  return route.body.schema.properties.config.contentSchema;
}

async function* fromText(text: string): AsyncGenerator<string> {
  yield* text.split('\n').slice(0, -1);
}

async function* withEnds(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield `${line}\n`;
}

async function* numbered(lines: AsyncIterable<string>) {
  let id = 0;
  for await (const data of lines) yield { id: String((id += 1)), data };
}
