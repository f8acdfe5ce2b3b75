import type { CommandCall } from '../cli/command.ts';
import { EXIT, type ExitCode } from '../failure.ts';
import type { Plan, Reading } from '../pipeline.ts';
import { formatFindings } from '../report.ts';

/** Shows findings, and says that errors stopped the run. */
export function reportFindings(
  { sources, findings }: Pick<Reading, 'sources' | 'findings'>,
  { terminal }: CommandCall,
): void {
  if (terminal.json) return;
  const texts = [...sources.schema, ...(sources.manifest ? [sources.manifest] : [])];
  for (const [index, text] of formatFindings(findings, texts, terminal.paint).entries()) {
    if (findings[index]!.severity === 'error') terminal.say(`${text}\n`);
    else terminal.note(`${text}\n`);
  }
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  if (errors > 0) terminal.say(`${errors} error${errors === 1 ? '' : 's'}; nothing was written`);
}

/** The exit code that findings and changes ask for. */
export function exitCodeOf(plan: Pick<Plan, 'findings' | 'changes'>): ExitCode {
  const errors = plan.findings.filter(({ severity }) => severity === 'error');
  if (errors.length > 0)
    return errors.every(({ code }) => code === 'RENAME_AMBIGUOUS') ? EXIT.ambiguous : EXIT.invalid;
  if (plan.changes.some(({ kind }) => kind === 'edited')) return EXIT.invalid;
  return plan.changes.some(({ kind }) => kind === 'conflict') ? EXIT.conflict : EXIT.done;
}
