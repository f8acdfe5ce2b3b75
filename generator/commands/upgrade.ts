import { resolve } from 'node:path';
import type { CommandCall } from '../cli/command.ts';
import { git } from '../breaking/base/git.ts';
import { CommandError, type ExitCode } from '../failure.ts';
import { readSources } from '../read.ts';
import { planUpgrade, type UpgradePlan } from '../upgrade/plan-upgrade.ts';
import { runTarget } from '../upgrade/registry.ts';
import { reportUpgrade } from '../upgrade/report.ts';
import type { Target } from '../upgrade/set-packages.ts';
import { resolveTarget } from '../upgrade/target.ts';
import { APP, versionOfProject } from '../upgrade/versions.ts';
import { packageVersion } from '../version.ts';
import { recover } from '../write/commit.ts';
import { disk } from '../write/disk.ts';
import { withRunLock } from '../write/run-lock.ts';
import { applyChanges } from '../write/write.ts';
import { workTreeOf } from '../write/work-tree.ts';
import { installPackages } from './install.ts';
import { exitCodeOf, reportFindings } from './outcome.ts';
import { installedBy } from './package-manager.ts';
import { reportSecrets } from './plan-report.ts';

/**
 * `generator upgrade`: brings the project to another version of the packages, in one transaction.
 */
export async function run(call: CommandCall): Promise<ExitCode> {
  const root = resolve(call.cwd);
  const dry = call.options['dry-run'] === true;
  // A killed upgrade is finished first: its codemods must not run again on their own result.
  if (!dry) await withRunLock(root, () => recover(root, disk));
  if (!dry && call.options['force'] !== true) await assertCommitted(root);
  const sources = await readSources(root);
  const version = versionOfProject(
    await disk.read(resolve(root, APP)),
    await disk.read(resolve(root, 'package.json')),
  );
  const to = call.options['to'] as string | undefined;
  const vendored = sources.packages === 'vendor';
  const target = await resolveTarget({ to, root, from: version, vendored });
  if (target.version !== packageVersion())
    return (await runTarget(root, target, wordsOf(call, root, target))) as ExitCode;
  return upgrade(call, { root, target, from: version ?? '0.0.0', dry });
}

interface Upgrade {
  readonly root: string;
  readonly target: Target;
  readonly from: string;
  readonly dry: boolean;
}

/** This generator is the target's: it knows what its version changes. */
async function upgrade(call: CommandCall, { root, target, from, dry }: Upgrade): Promise<ExitCode> {
  const range = { from, to: target.version };
  const installs = call.options['no-install'] !== true;
  const input = { root, range, target, lock: installs && !dry };
  const plan = await (dry
    ? planUpgrade(input, disk)
    : applyChanges(root, () => planUpgrade(input, disk), disk));
  const outcome = { findings: plan.run.findings, changes: plan.changes };
  if (plan.run.project === null || plan.changes.some(({ kind }) => kind === 'edited')) {
    if (call.terminal.json) reportUpgrade(plan, call, { range, dry, installed: false });
    else reportFindings(plan.run, call);
    reportEdited(plan, call);
    return exitCodeOf(outcome);
  }
  if (!dry) await reportSecrets(plan.run, call);
  const installed =
    !dry && installs && changesPackages(plan)
      ? await installPackages({ root, manager: installedBy(root) }, call.terminal)
      : false;
  reportUpgrade(plan, call, { range, dry, installed });
  return exitCodeOf(outcome);
}

const changesPackages = ({ changes }: UpgradePlan): boolean =>
  changes.some(
    ({ path, kind }) => kind !== 'same' && (path === 'package.json' || path.startsWith('vendor/')),
  );

function reportEdited({ changes }: UpgradePlan, { terminal }: CommandCall): void {
  for (const { path } of changes.filter(({ kind }) => kind === 'edited'))
    terminal.say(
      `${path} is generated and was edited by hand; nothing was written\n   ` +
        'fix  npm run generate -- --force keeps the edit under .generator/rescued/',
    );
}

/** The same command line for the generator of the target. Both programs know these options. */
function wordsOf({ options }: CommandCall, root: string, { version, packs }: Target): string[] {
  const switches = ['dry-run', 'force', 'no-install', 'json', 'quiet', 'no-color'];
  return [
    ...['--cwd', root, '--to', packs?.folder ?? version],
    ...switches.filter((name) => options[name] === true).map((name) => `--${name}`),
  ];
}

/**
 * An upgrade can be looked at, and undone, when it is the only change. Outside of git there is
 * nothing to compare with.
 *
 * @throws CommandError `UNCOMMITTED` when git knows of other changes.
 */
async function assertCommitted(root: string): Promise<void> {
  if (!workTreeOf(root).git) return;
  const { code, out } = await git(root, ['status', '--porcelain', '--', '.']);
  const lines = out.toString().split('\n').filter(Boolean);
  if (code !== 0 || lines.length === 0) return;
  const names = lines.slice(0, 3).map((line) => line.slice(3));
  throw new CommandError('UNCOMMITTED', {
    message:
      `${lines.length} file${lines.length === 1 ? ' has' : 's have'} changes that are not committed: ` +
      `${names.join(', ')}${lines.length > 3 ? ', …' : ''}`,
    fix: 'commit them, so that git shows and can undo what the upgrade changes; or --force',
  });
}
