import { hostingRoutes } from '@twofold/schema';
import { failure } from '@twofold/runtime/errors';
import { bytesOf, type Call, createChecks, type Reply, reply } from '@twofold/runtime/http';
import { type ApplyParts, applyCompose } from '../compose/apply-compose.ts';
import type { ComposeApp } from '../compose/compose-app.ts';
import { type ComposePlan, planCompose, reportOf } from '../compose/compose-plan.ts';
import { type ComposeArchive, noteWanted, receiveArchive } from '../compose/compose-source.ts';
import { readCompose } from '../compose/read-compose.ts';
import { type ReceivedSource, unpackLimits } from '../deploy/source-deploys.ts';
import { readBytes } from '../read-bytes.ts';
import { toEnv } from '../records/names.ts';
import { assertProjectName } from '../records/project.ts';
import { readForm } from '../source/multipart.ts';
import type { Spool } from '../source/spool.ts';
import { validator } from '../validator.ts';

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

const MIB = 1024 * 1024;

export function composeHandlers(parts: ApplyParts) {
  const { core, model } = parts;
  const limits = unpackLimits(model);
  /** The projects whose compose files are being applied. */
  const busy = new Set<string>();
  return {
    async composeProject(call: Call): Promise<Reply> {
      const project = String(call.params['name']);
      assertProjectName(project);
      const { dry_run: dryRun, prune, wait } = call.query as Record<string, boolean>;
      if (!dryRun) core.connection.engine();
      const sent = await readCall(call, (upload) => receiveArchive(upload, limits));
      let prepared: Prepared | undefined;
      const cleanUp = async () => {
        await prepared?.spool?.remove();
        await sent.archive?.remove();
      };
      try {
        prepared = await prepare(parts, project, sent);
        if (dryRun) return reply(200, reportOf(prepared.plan));
        if (busy.has(project))
          throw failure.conflict(`Another compose file of the project ${project} is being applied`);
      } catch (error) {
        await cleanUp();
        throw error;
      } finally {
        if (dryRun) await cleanUp();
      }
      busy.add(project);
      const report = reportOf(prepared.plan);
      const done = applyCompose(parts, { ...prepared, prune: prune === true }).finally(async () => {
        busy.delete(project);
        await cleanUp();
      });
      const builds = prepared.plan.levels.flat().some(({ app, changes }) => changes && app.build);
      if (!builds || wait) return done.then(() => reply(200, report));
      done.catch((error: Error) => core.log.warn(`project ${project}: ${error.message}`));
      return reply(202, report);
    },
  };
}

/** Reads everything and makes nothing. */
async function prepare(
  parts: ApplyParts,
  project: string,
  { compose, env, archive }: SentCompose,
): Promise<Prepared> {
  const text = compose ?? (await (archive as ComposeArchive).composeFile());
  const levels = await readWith(text, { project, env, archive });
  const sources = new Map<string, ReceivedSource>();
  const builds = levels.flat().filter(({ build }) => build);
  const spool = archive && builds.length > 0 ? await parts.sources.receive(archive.read()) : null;
  try {
    for (const { service, build } of spool ? builds : [])
      sources.set(service, await parts.sources.plan(shared(spool as Spool), build ?? undefined));
    const plan = planCompose({
      ...{ project, levels, model: parts.model, apps: parts.core.apps.all(), check: checkApp },
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
  text: string,
  { project, env, archive }: Pick<SentCompose, 'env' | 'archive'> & { readonly project: string },
): Promise<ComposeApp[][]> {
  if (!archive) return readCompose(text, { project, env, source: null });
  const { wanted, source } = noteWanted();
  try {
    readCompose(text, { project, env, source });
  } catch {
    // The second reading reports the problems.
  }
  return readCompose(text, { project, env, source: await archive.files(wanted) });
}

const checks = createChecks(validator);
const checkApp = checks.body(bodyOf('createApp'));
const checkEnv = checks.body({
  type: 'object',
  maxProperties: 1000,
  additionalProperties: { type: ['string', 'number', 'boolean'], maxLength: 65_536 },
});
const checkJson = checks.body({
  type: 'object',
  properties: { compose: { type: 'string', minLength: 1 }, env: { type: 'object' } },
  required: ['compose'],
  additionalProperties: false,
});

function bodyOf(id: string): Record<string, unknown> {
  const route = hostingRoutes.find((each) => each.id === id) as { body: { schema: object } };
  return route.body.schema as Record<string, unknown>;
}

type Receive = (upload: AsyncIterable<Buffer>) => Promise<ComposeArchive>;

async function readCall({ koa }: Call, receive: Receive): Promise<SentCompose> {
  const bytes = bytesOf(koa.req);
  try {
    if (!koa.get('Content-Type').startsWith('application/json'))
      return await readUpload(readForm(bytes, koa.get('Content-Type')), receive);
    const body = parseJson('The body', await readBytes(bytes, MIB, 'The body is too large'));
    const { compose, env = {} } = checkJson(body) as { compose: string; env?: unknown };
    return { compose, env: toEnv(checkEnv(env) as Record<string, string>), archive: null };
  } finally {
    void bytes.return(undefined);
  }
}

async function readUpload(
  form: ReturnType<typeof readForm>,
  receive: Receive,
): Promise<SentCompose> {
  let compose: string | null = null;
  let env: Record<string, string> = {};
  let archive: ComposeArchive | null = null;
  const text = async (data: AsyncIterable<Buffer>, name: string) =>
    await readBytes(data, MIB, `${name} is too large`);
  try {
    for await (const { name, data } of form) {
      if (name === 'source' && !archive) archive = await receive(data);
      else if (name === 'compose') compose = (await text(data, name)).toString('utf8');
      else if (name === 'env')
        env = toEnv(checkEnv(parseJson(name, await text(data, name))) as Record<string, string>);
      else throw failure.badRequest(`${name.slice(0, 100)} is not a known field`);
    }
    if (!archive) throw failure.badRequest('source is required');
    return { compose, env, archive };
  } catch (error) {
    await archive?.remove();
    throw error;
  }
}

function parseJson(name: string, bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw failure.badRequest(`${name} is not valid JSON`);
  }
}
