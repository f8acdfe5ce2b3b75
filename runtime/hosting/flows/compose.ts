import { failure } from '@twofold/runtime/errors';
import { stream } from '@twofold/schema';
import { list, object, text } from '@twofold/schema/shapes';
import { bytesOf, type Call, createChecks, reply } from '@twofold/runtime/http';
import { applyCompose } from './apply-compose.ts';
import type { ComposeApp } from '../compose/compose-app.ts';
import { type ComposePlan, planCompose, reportOf } from '../compose/compose-plan.ts';
import { type ComposeArchive, noteWanted, receiveArchive } from '../compose/compose-source.ts';
import { readCompose } from '../compose/read-compose.ts';
import { type ReceivedSource, unpackLimits } from '../deploy/source-deploys.ts';
import type { Leader } from '../leader.ts';
import { readBytes, readJson } from '../read-bytes.ts';
import { createBody } from '../records/app-shape.ts';
import { toEnv, assertProjectName } from '../records/names.ts';
import { readForm } from '../source/multipart.ts';
import type { Spool } from '../source/spool.ts';
import { validator } from '../validator.ts';
import { flow, MIB, ON_ENGINE, wait } from './flow.ts';

/** A compose file with what was sent beside it. */
interface SentCompose {
  readonly compose: string | null;
  readonly env: Readonly<Record<string, string>>;
  readonly archive: ComposeArchive | null;
}

interface Prepared {
  readonly plan: ComposePlan;
  readonly sources: ReadonlyMap<string, ReceivedSource>;
  /** The checked source of all builds. */
  readonly spool: Spool | null;
}

/** Names of apps. */
const names = list(text);
const reportShape = object({ created: names, changed: names, unchanged: names, gone: names });

export const composeProject = flow('POST /api/projects/:name/compose', {
  needs: 'apps:write',
  summary: 'Makes the apps of a project what a compose file says',
  description:
    'As JSON, `{compose, env?}`, or as a form with `source`: a tar.gz with `compose.yaml` and the files that it names. The response has names of apps.',
  audit: { target: 'project:{name}' },
  query: {
    dry_run: { type: 'boolean', default: false },
    prune: { type: 'boolean', default: false },
    ...wait,
  },
  body: stream(
    'multipart/form-data',
    object({
      compose: text,
      env: { ...text, contentMediaType: 'application/json' },
      source: { ...text, format: 'binary' },
    }),
  ),
  answers: {
    200: ['What was done, or would be done', reportShape],
    202: ['What is done while something is built', reportShape],
  },
  refuses: [...ON_ENGINE, 413, 415, 422],
  async handle(call, leader) {
    const { composing, connection, log, model } = leader;
    const project = call.params.name;
    assertProjectName(project);
    const { dry_run: dryRun, prune, wait: waits } = call.query;
    if (!dryRun) connection.engine();
    const limits = unpackLimits(model);
    const sent = await readCall(call, (upload) => receiveArchive(upload, limits));
    let prepared: Prepared | undefined;
    const cleanUp = async () => {
      await prepared?.spool?.remove();
      await sent.archive?.remove();
    };
    try {
      prepared = await prepare(leader, project, sent);
      if (dryRun) return reply(200, reportOf(prepared.plan));
      if (composing.has(project))
        throw failure.conflict(`Another compose file of the project ${project} is being applied`);
    } catch (error) {
      await cleanUp();
      throw error;
    } finally {
      if (dryRun) await cleanUp();
    }
    composing.add(project);
    const done = applyCompose(leader, { ...prepared, prune }).finally(async () => {
      composing.delete(project);
      await cleanUp();
    });
    const report = reportOf(prepared.plan);
    const builds = prepared.plan.levels.flat().some(({ app, changes }) => changes && app.build);
    if (!builds || waits) return done.then(() => reply(200, report));
    done.catch((error: Error) => log.warn(`project ${project}: ${error.message}`));
    return reply(202, report);
  },
});

/** Reads everything and makes nothing. */
async function prepare(
  { apps, model, sources: builder }: Leader,
  project: string,
  { compose, env, archive }: SentCompose,
): Promise<Prepared> {
  const file = compose ?? (await (archive as ComposeArchive).composeFile());
  const levels = await readWith(file, { project, env, archive });
  const sources = new Map<string, ReceivedSource>();
  const builds = levels.flat().filter(({ build }) => build);
  const spool = archive && builds.length > 0 ? await builder.receive(archive.read()) : null;
  try {
    for (const { service, build } of spool ? builds : [])
      sources.set(service, await builder.plan(shared(spool as Spool), build ?? undefined));
    const plan = planCompose({
      project,
      levels,
      model,
      apps: apps.all(),
      check: checkApp,
      sha256: ({ service }) => sources.get(service)?.spool.sha256 ?? '',
    });
    return { plan, sources, spool };
  } catch (error) {
    await spool?.remove();
    throw error;
  }
}

/** A project may have dozens of builds, which all read one stored source. So none removes it. */
const shared = (spool: Spool): Spool => ({ ...spool, remove: async () => {} });

/**
 * A compose file says only while it is read which files of the source it needs. So it is read once
 * to learn their paths, and again with these files.
 */
async function readWith(
  file: string,
  { project, env, archive }: Pick<SentCompose, 'env' | 'archive'> & { readonly project: string },
): Promise<ComposeApp[][]> {
  if (!archive) return readCompose(file, { project, env, source: null });
  const { wanted, source } = noteWanted();
  try {
    readCompose(file, { project, env, source });
  } catch {
    // The second reading reports the problems.
  }
  return readCompose(file, { project, env, source: await archive.files(wanted) });
}

const checks = createChecks(validator);
const checkApp = checks.body(createBody);
const checkEnv = checks.body({
  type: 'object',
  maxProperties: 1000,
  additionalProperties: { type: ['string', 'number', 'boolean'], maxLength: 65_536 },
});
const envOf = (value: unknown) => toEnv(checkEnv(value) as Record<string, string>);
const checkJson = checks.body({
  type: 'object',
  properties: { compose: { type: 'string', minLength: 1 }, env: { type: 'object' } },
  required: ['compose'],
  additionalProperties: false,
});

type Receive = (upload: AsyncIterable<Buffer>) => Promise<ComposeArchive>;

async function readCall({ koa }: Call, receive: Receive): Promise<SentCompose> {
  const bytes = bytesOf(koa.req);
  try {
    if (!koa.get('Content-Type').startsWith('application/json'))
      return await readUpload(readForm(bytes, koa.get('Content-Type')), receive);
    const body = checkJson(await readJson('The body', bytes, MIB));
    const { compose, env = {} } = body as { compose: string; env?: unknown };
    return { compose, env: envOf(env), archive: null };
  } finally {
    void bytes.return(undefined);
  }
}

async function readUpload(
  form: ReturnType<typeof readForm>,
  receive: Receive,
): Promise<SentCompose> {
  let compose: string | null = null;
  let env: SentCompose['env'] = {};
  let archive: ComposeArchive | null = null;
  try {
    for await (const { name, data } of form) {
      if (name === 'source' && !archive) archive = await receive(data);
      else if (name === 'compose')
        compose = (await readBytes(data, MIB, 'compose is too large')).toString('utf8');
      else if (name === 'env') env = envOf(await readJson(name, data, MIB));
      else throw failure.badRequest(`${name.slice(0, 100)} is not a known field`);
    }
    if (!archive) throw failure.badRequest('source is required');
    return { compose, env, archive };
  } catch (error) {
    await archive?.remove();
    throw error;
  }
}
