import { resolve } from 'node:path';
import type { Diagnostic } from '@twofold/schema';
import type { CommandCall } from '../cli/command.ts';
import { EXIT, type ExitCode } from '../failure.ts';
import { withoutDraft } from '../migrations/draft.ts';
import { keepNewSpaceSmall, exitCodeOf } from './outcome.ts';
import { disk } from '../write/disk.ts';
import { LOCKFILE } from '../write/lockfile.ts';
import type { FileChange } from '../files.ts';
import type { RunPlan } from '../pipeline.ts';
import { reportPlan } from './plan-report.ts';
import { isUpToDate } from './up-to-date.ts';

/** `generator check`: reports what `generate` would do, and writes nothing. */
export async function run(call: CommandCall): Promise<ExitCode> {
  const root = resolve(call.cwd);
  const asksDatabase = call.options['database'] === true;
  if (!asksDatabase && (await isUpToDate(root, call))) return EXIT.done;
  const { planRun } = await import('../pipeline.ts');
  keepNewSpaceSmall();
  const planned = await withMissing(
    withDraft(await planRun(root, { client: call.options['no-client'] !== true }, disk)),
  );
  const plan = asksDatabase ? await withDatabase(root, planned) : planned;
  const code = codeOf(plan);
  await reportPlan(plan, call, true, code);
  if (exitCodeOf(plan) === EXIT.done && differing(plan).length > 0)
    call.terminal.note(
      'Generated files are not up to date: run "npm run generate" and commit what it writes.',
    );
  return code;
}

function codeOf(plan: RunPlan): ExitCode {
  if (plan.findings.some((each) => each.code === 'CATALOG_MISMATCH')) return EXIT.differs;
  const code = exitCodeOf(plan);
  return code === EXIT.done && differing(plan).length > 0 ? EXIT.differs : code;
}

/** Compares the schema with the database too, when everything else is right. */
async function withDatabase(root: string, plan: RunPlan): Promise<RunPlan> {
  const { project, sources, findings } = plan;
  if (!project || exitCodeOf(plan) !== EXIT.done) return plan;
  const { databaseFindings } = await import('./database-findings.ts');
  const more = await databaseFindings(root, project, sources.schema);
  return { ...plan, findings: [...findings, ...more] };
}

/**
 * After a merge of two branches only the lockfile may be out of date while every file is right: the
 * next run corrects it.
 */
function differing({ changes }: RunPlan): readonly FileChange[] {
  return changes.filter(
    ({ kind, path }) => kind !== 'same' && kind !== 'stale' && path !== LOCKFILE,
  );
}

/** A draft belongs to one machine: later saves write it again, and it is named here. */
function withDraft(plan: RunPlan): RunPlan {
  const { draft } = withoutDraft(plan.sources.migrations);
  if (!draft) return plan;
  const finding: Diagnostic = {
    code: 'MIGRATION_DRAFT',
    severity: 'warning',
    summary: `${draft.file} is a draft`,
    why: 'the next save under "dev" writes it again, and a database that applied it would have to undo it',
    fix: 'npm run migrate -- save, and commit the saved migration',
    at: { file: draft.file, line: 1, column: 1, length: 1 },
  };
  return { ...plan, findings: [...plan.findings, finding] };
}

/**
 * If only a migration is missing, it was removed or not committed: the schema is the one of the
 * last run, but the migrations do not produce its tables.
 */
async function withMissing(plan: RunPlan): Promise<RunPlan> {
  const { missing, sources, project } = plan;
  const [earliest] = missing;
  const changes = differing(plan);
  const onlyMigrations = changes.every(({ path }) => path.startsWith('migrations/'));
  if (!project || earliest === undefined || !onlyMigrations) return plan;
  const { createLocate } = await import('../migrations/locate.ts');
  const gone = sources.lockedMigrations;
  const finding: Diagnostic = {
    code: 'MIGRATION_STEP_MISSING',
    severity: 'error',
    summary: `no migration makes ${missing.join(', ')}, which the schema has`,
    why: 'a migration was removed or not committed: a database that follows the others would lack it',
    fix:
      `${gone.length > 0 ? `restore and commit ${gone.join(', ')}; or run` : 'run'} "npm run generate", ` +
      'which writes what is missing, and commit it',
    at: createLocate(project, sources.schema)(earliest),
  };
  return { ...plan, findings: [...plan.findings, finding] };
}
