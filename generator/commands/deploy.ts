import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { Project } from '@twofold/schema';
import type { CommandCall } from '../cli/command.ts';
import {
  type AppSettings,
  HEALTH,
  newApp,
  readSettings,
  withAddress,
  withNeeded,
} from '../deploy/app-settings.ts';
import { followDeployment } from '../deploy/follow.ts';
import {
  type DeploymentReport,
  type AppReport,
  HostingRefusal,
  type HostingServer,
} from '../deploy/hosting-server.ts';
import { type Interruption, noteInterruption } from '../deploy/interruption.ts';
import { packSource } from '../deploy/pack-source.ts';
import { reachApp } from '../deploy/reach.ts';
import { openServer } from '../deploy/target.ts';
import { environmentOf } from '../secrets.ts';
import { CommandError, EXIT, type ExitCode } from '../failure.ts';
import { type RunPlan, planRun } from '../pipeline.ts';
import { disk } from '../write/disk.ts';
import { LOCKFILE } from '../write/lockfile.ts';
import { reportBrokenInputs } from './outcome.ts';

/**
 * `generator deploy`: packs the project, builds it on a hosting server, and returns when the app
 * answers there.
 */
export async function run(call: CommandCall): Promise<ExitCode> {
  const root = resolve(call.cwd);
  const plan = await planRun(root, {}, disk);
  if (!plan.project) return reportBrokenInputs(plan, call);
  assertBuildable(root, plan);
  const name = nameOf(call, plan.project);
  const here = environmentOf(root);
  const given = readSettings((call.options['env'] as readonly string[] | undefined) ?? [], here);
  const server = await openServer(call, here);
  const interruption = noteInterruption(call.terminal);
  try {
    return await deploy(
      { ...{ root, name, given, server, call }, project: plan.project },
      interruption.begun,
    );
  } catch (error) {
    throw explainRefusal(error, name);
  } finally {
    interruption.end();
  }
}

interface DeployWork {
  readonly root: string;
  readonly name: string;
  readonly given: AppSettings;
  readonly server: HostingServer;
  readonly call: CommandCall;
  readonly project: Project;
}

async function deploy(work: DeployWork, onBegun: Interruption['begun']): Promise<ExitCode> {
  const { root, name, server, call } = work;
  const { terminal } = call;
  const known = await server.app(name);
  assertOurs(known, name);
  const source = await packSource(root);
  if (source.secrets.length > 0)
    terminal.note(`left out, as they hold secrets: ${source.secrets.join(', ')}`);
  terminal.note(
    `sending ${source.paths.length} files (${Math.ceil(source.archive.length / 1024)} KiB) to ${server.url}`,
  );
  const config = await prepareApp(work, known);
  const begun = await server.upload(config, source.archive);
  onBegun({
    text:
      `deployment ${begun.number} of ${name} goes on without us: ` +
      'run "npm run generator -- deploy" again when it has ended',
    cancel: () => server.cancel(name, begun.number),
  });
  const app = await follow(work, begun);
  const by = await reachApp(app, { server: server.url, path: HEALTH });
  if (by === 'address')
    terminal.note(
      `${terminal.paint.yellow('warning')}  ${app.domain} leads nowhere from this machine; ` +
        'the hosting server answers for it',
    );
  if (terminal.json)
    terminal.document({
      ok: true,
      app: name,
      url: app.url,
      deployment: begun.number,
      created: known === null,
    });
  else terminal.note(`${terminal.paint.green('deployed')}  ${app.url}${work.project.api.path}`);
  return EXIT.done;
}

/** Creates the app before its source is sent, so that its secrets are set at the first start. */
async function prepareApp(
  { name, given, server, call, project }: DeployWork,
  known: AppReport | null,
): Promise<Record<string, unknown>> {
  const settings = withNeeded(given, project, known);
  const app = known ?? (await server.create(newApp(name, settings, project)));
  if (!known)
    call.terminal.note(`${call.terminal.paint.green('created')}  the app ${name}, at ${app.url}`);
  for (const [key, value] of Object.entries(settings.secrets))
    await server.putSecret(name, key, value);
  const env = withAddress(settings, project, app);
  if (Object.keys(env).length === 0) return { name };
  // The server masks the values of secrets, so only the other settings are sent again.
  const kept = Object.entries((await server.app(name))?.env ?? {}).filter(
    ([, value]) => !/^\*+$/.test(value),
  );
  return { name, env: { ...Object.fromEntries(kept), ...env } };
}

async function follow(
  { name, server, call: { terminal } }: DeployWork,
  { number }: DeploymentReport,
): Promise<AppReport> {
  await followDeployment(server, {
    app: name,
    number,
    onLine: (line) => terminal.note(terminal.paint.dim(`  ${plainText(line)}`)),
  });
  const app = await server.app(name);
  if (app) return app;
  throw new CommandError('APP_DELETED', {
    message: `${name} was deleted while it was deployed`,
    exit: EXIT.again,
  });
}

/** Removes control characters: the output of a build must not control the terminal. */
function plainText(line: string): string {
  return stripVTControlCharacters(line).replace(/\p{Cc}/gu, (character) =>
    character === '\t' ? character : '',
  );
}

/**
 * The generated files must match the schema, and the lockfile that the build installs from must
 * exist.
 */
function assertBuildable(root: string, { changes }: RunPlan): void {
  const differs = changes.filter(
    ({ kind, path }) => !['same', 'stale'].includes(kind) && path !== LOCKFILE,
  );
  if (differs.length > 0)
    throw new CommandError('NOT_GENERATED', {
      message: `the project is not up to date: ${differs
        .slice(0, 3)
        .map(({ path }) => path)
        .join(', ')}${differs.length > 3 ? ', …' : ''}`,
      fix: 'npm run generate',
      exit: EXIT.differs,
    });
  const dockerfile = existsSync(join(root, 'Dockerfile'))
    ? readFileSync(join(root, 'Dockerfile'), 'utf8')
    : '';
  if (/package-lock\.json/.test(dockerfile) && !existsSync(join(root, 'package-lock.json')))
    throw new CommandError('NO_PACKAGE_LOCK', {
      message: 'there is no package-lock.json, from which the image gets its packages',
      fix: 'npm install',
    });
}

function nameOf({ options }: CommandCall, project: Project): string {
  const name =
    typeof options['name'] === 'string'
      ? options['name']
      : project.name
          .toLowerCase()
          .replace(/[^a-z0-9]+/g, '-')
          .replace(/^[^a-z]+|-+$/g, '')
          .slice(0, 63);
  if (/^[a-z][a-z0-9-]{0,62}$/.test(name)) return name;
  throw new CommandError('NAME_INVALID', {
    message: `${JSON.stringify(name)} is not a name for an app: lower case letters, digits and dashes, a letter first`,
    fix: '--name NAME',
  });
}

/** An upload must not replace an app that was made from an image, a repository or a template. */
function assertOurs(known: AppReport | null, name: string): void {
  const kind = known?.source?.kind;
  if (kind === undefined || kind === 'tarball') return;
  throw new CommandError('NAME_TAKEN', {
    message: `the server has an app ${name} already, and it was not deployed from a project (${kind})`,
    fix: '--name NAME deploys under another name',
  });
}

/** Translates a refusal of the server into the terms of this command. */
function explainRefusal(error: unknown, name: string): unknown {
  if (!(error instanceof HostingRefusal)) return error;
  const { status, message } = error;
  if (status === 409 && /operation is running|is locked/i.test(message))
    return new CommandError('DEPLOY_RUNNING', {
      message: `another deploy of ${name} is running`,
      fix: 'run again when it has ended',
      exit: EXIT.again,
    });
  if (status === 409)
    return new CommandError('NAME_TAKEN', {
      message,
      fix: '--name NAME deploys under another name',
    });
  if (status === 413)
    return new CommandError('SOURCE_TOO_LARGE', {
      message,
      fix: 'name what no build needs in .dockerignore',
    });
  return new CommandError('SERVER_REFUSED', {
    message: `the server refused (${status}): ${message}`,
  });
}
