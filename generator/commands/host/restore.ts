import { resolve } from 'node:path';
import type { CommandCall } from '../../cli/command.ts';
import { environmentOf } from '../../secrets.ts';
import { CommandError, EXIT, type ExitCode } from '../../failure.ts';
import { askProject } from '../../run-project.ts';

interface HostRestoreReport {
  readonly backup: string;
  readonly created_at: string;
  readonly tables: number;
  readonly rows: number;
  readonly apps: readonly {
    readonly name: string;
    readonly domain: string;
    readonly volumes: readonly string[];
    readonly backup: string | null;
  }[];
}

/** `generator host restore TARGET`: brings a server back on an empty host. */
export async function run(call: CommandCall): Promise<ExitCode> {
  const [, target] = call.positionals;
  const root = resolve(call.cwd);
  const here = environmentOf(root);
  const key = call.options['key'] ?? here['BACKUP_KEY'];
  if (target === undefined || typeof key !== 'string' || key === '')
    throw new CommandError('ARGUMENT_MISSING', {
      message: 'the target of the backups and their key are needed',
      fix: 'generator host restore /mnt/backups --key "$BACKUP_KEY"',
    });
  const dryRun = call.options['dry-run'] === true;
  const aws = Object.entries(here).filter(([name]) => name.startsWith('AWS_'));
  const place = target.startsWith('s3://') ? target : resolve(root, target);
  const report = await askProject<HostRestoreReport>(root, 'restoreHostApp', {
    input: { target: place, key, dryRun, env: Object.fromEntries(aws) },
  });
  show(call, report, dryRun);
  return EXIT.done;
}

function show({ terminal }: CommandCall, report: HostRestoreReport, dryRun: boolean): void {
  if (terminal.json) return terminal.document({ ok: true, dry_run: dryRun, ...report });
  const { backup, tables, rows, apps } = report;
  const word = terminal.paint.green(dryRun ? 'would restore' : 'restored');
  terminal.note(`${word}  ${rows} rows of ${tables} tables from ${backup}`);
  for (const app of apps) terminal.note(`  ${app.name.padEnd(20)}  ${dataOf(app)}`);
  if (dryRun) terminal.note('nothing was changed');
  else
    terminal.note(
      'start the server: it pulls the images and restores these apps, one after the other',
    );
}

function dataOf({ volumes, backup }: HostRestoreReport['apps'][number]): string {
  if (backup !== null) return backup;
  return volumes.length === 0 ? 'has no volume' : 'has no backup in this target';
}
