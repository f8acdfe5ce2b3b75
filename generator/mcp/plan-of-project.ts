import type { FileChange } from '../files.ts';
import { exitCodeOf } from '../commands/outcome.ts';
import { EXIT } from '../failure.ts';
import { changeAsData } from '../report.ts';
import { disk } from '../write/disk.ts';
import { runCaptured } from './run-captured.ts';
import type { ToolProject } from './tool-project.ts';

/** The result that the next `generate` would have. */
export interface ProjectPlan {
  readonly ok: boolean;
  readonly findings: readonly unknown[];
  readonly changes: readonly object[];
  /** New migrations with their steps. */
  readonly migrations: readonly { readonly file: string; readonly text: string }[];
  /** The result of `breaking --json` against the last reachable commit of the main branch. */
  readonly breaking: unknown;
}

/** Plans a run without writing it. */
export async function planOfProject(project: ToolProject): Promise<ProjectPlan> {
  const { planRun } = await import('../pipeline.ts');
  const plan = await planRun(project.root, {}, disk);
  const changes = plan.changes.filter(({ kind }) => kind !== 'same');
  return {
    ok: exitCodeOf(plan) === EXIT.done,
    findings: plan.findings,
    changes: changes.map(changeAsData),
    migrations: changes
      .filter(isMigration)
      .map(({ path, after }) => ({ file: path, text: after! })),
    breaking: await runCaptured({ ...project, command: 'breaking', options: { 'no-code': true } }),
  };
}

const isMigration = ({ path, kind }: FileChange): boolean =>
  kind === 'create' && /^migrations\/\d+_[^/]*\.ts$/.test(path);
