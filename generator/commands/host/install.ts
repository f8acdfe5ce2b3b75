import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Project } from '@twofold/schema';
import type { CommandCall } from '../../cli/command.ts';
import { CommandError, EXIT, type ExitCode } from '../../failure.ts';
import { assertCanInstall, runCommands, writeFiles } from '../../host/carry-out.ts';
import { factsBelow, placeBelow, systemBelow, textOf } from '../../host/facts.ts';
import { localUrl, untilHealthy } from '../../host/health.ts';
import {
  type HostFile,
  type InstallPlan,
  planInstall,
  planReturn,
} from '../../host/install-plan.ts';
import { LOCK, whileLocked } from '../../host/lock.ts';
import { countRestarts, lastLines } from '../../host/services.ts';
import { DEFAULT_PLACE, type HostPlace, PATHS } from '../../host/place.ts';
import { readProjectOf } from '../../read-project.ts';
import { reportBrokenInputs } from '../outcome.ts';

/** `generator host install`: the project as services of systemd; again: upgrades it in place. */
export async function run(call: CommandCall): Promise<ExitCode> {
  const { options } = call;
  const target = typeof options['root'] === 'string' ? resolve(options['root']) : null;
  const system = systemBelow(target ?? '/');
  const reading = await readProjectOf(resolve(call.cwd));
  const { project } = reading;
  if (!project) return reportBrokenInputs(reading, call);
  const work = async () => {
    const plan = planOf(call, { project, system, target });
    if (options['dry-run'] === true) return showPlan(call, plan);
    if (target !== null) writeFiles(target, plan.files);
    else await install(resolve(call.cwd), plan);
    return report(call, plan, { project, target });
  };
  if (options['dry-run'] === true || target !== null) return work();
  assertCanInstall(existsSync('/run/systemd/system'));
  return whileLocked(LOCK, work);
}

interface Installed {
  readonly project: Project;
  /** The folder of `--root`; null for this machine. */
  readonly target: string | null;
}

function planOf(
  call: CommandCall,
  { project, system, target }: Installed & { system: ReturnType<typeof systemBelow> },
): InstallPlan {
  const { hosting } = project;
  if (!hosting)
    throw new CommandError('HOSTING_MISSING', {
      message: 'the manifest of this project has no hosting:, so it is no host',
      fix: 'add to manifest.yaml: hosting: {}; then: npm run generate',
    });
  const root = resolve(call.cwd);
  const given = (name: string) => (call.options[name] as string | undefined) ?? null;
  const place = placeFor(given, placeBelow(target ?? '/'));
  return planInstall({
    system,
    project: {
      ...{ name: project.name, root, entries: readdirSync(root).sort(), ports: hosting.ingress },
      ...{ env: textOf(join(root, '.env')), port: project.server.port },
    },
    options: { ...place, domain: given('domain'), url: given('url'), email: given('email') },
    facts: factsBelow(target ?? '/', place, hosting.engine.kind),
    release: new Date().toISOString().replace(/[-:]|\.\d+/g, ''),
    node: process.execPath,
  });
}

/** @throws CommandError when the host is somewhere else: its data does not move with an upgrade. */
function placeFor(given: (name: string) => string | null, before: HostPlace | null): HostPlace {
  const known = before ?? DEFAULT_PLACE;
  const place = { user: given('user') ?? known.user, dir: given('dir') ?? known.dir };
  if (before !== null && (place.user !== before.user || place.dir !== before.dir))
    throw new CommandError('HOST_ELSEWHERE', {
      message: `a host is installed in ${before.dir} as ${before.user}; an upgrade leaves it there`,
      fix: `generator host install --dir ${before.dir} --user ${before.user}`,
    });
  return place;
}

async function install(root: string, plan: InstallPlan): Promise<void> {
  assertComplete(root);
  const place = placeBelow('/');
  const before = place && factsBelow('/', place, 'auto').current;
  writeFiles('/', plan.files);
  await runCommands(plan.commands);
  const url = localUrl(textOf(PATHS.env) ?? '');
  if ((await untilHealthy(url, await countRestarts())) !== null) return;
  const said = await lastLines();
  if (place && before) await runCommands(planReturn(place, before));
  throw new CommandError('HOST_UNHEALTHY', {
    message: `the new server does not answer at ${url}/api/health${before ? `; release ${before} runs again` : ''}\n${said}`,
    fix: 'mend what it says, then: generator host install; all lines: journalctl --unit twofold',
    exit: EXIT.differs,
  });
}

function assertComplete(root: string): void {
  for (const [path, code, fix] of [
    ['node_modules/@twofold/hosting', 'PACKAGES_MISSING', 'npm install'],
    ['src/generated/app.ts', 'NOT_GENERATED', 'npm run generate'],
  ] as const)
    if (!existsSync(join(root, path)))
      throw new CommandError(code, { message: `there is no ${path} in ${root}`, fix });
}

/** Values in the file of settings are secrets, so nothing prints them. */
const masked = (file: HostFile): HostFile =>
  file.path === PATHS.env ? { ...file, text: file.text.replace(/^(\w+)=.*$/gm, '$1=***') } : file;

function showPlan({ terminal }: CommandCall, plan: InstallPlan): ExitCode {
  const files = plan.files.map(masked);
  if (terminal.json)
    terminal.document({ ok: true, dry_run: true, files, ...rest(plan), commands: plan.commands });
  else {
    for (const { path, mode, text } of files) terminal.data(`# ${path} (${mode})\n${text}\n`);
    for (const words of plan.commands) terminal.data(`${words.map(shellWord).join(' ')}\n`);
    for (const note of plan.notes) terminal.note(note);
    terminal.note('nothing was changed');
  }
  return EXIT.done;
}

const rest = ({ firewall, notes }: InstallPlan) => ({ firewall, notes });

const shellWord = (word: string): string =>
  /^[\w./:=@,+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

function report(
  { terminal }: CommandCall,
  plan: InstallPlan,
  { project, target }: Installed,
): ExitCode {
  const files = plan.files.map(({ path }) => path);
  if (terminal.json) {
    terminal.document({ ok: true, root: target, files, ...rest(plan) });
    return EXIT.done;
  }
  for (const path of files) terminal.note(`written  ${target ?? ''}${path}`);
  if (target === null) terminal.note(`\n${project.name} runs. HOST_PASSWORD is in ${PATHS.env}`);
  terminal.note('\nIf there is a firewall, let clients in with the line of yours:');
  for (const line of plan.firewall) terminal.note(`  ${line}`);
  for (const note of plan.notes) terminal.note(`\n${note}`);
  return EXIT.done;
}
