import type { Diagnostic } from '@twofold/schema';
import { setFlagsFromString } from 'node:v8';
import type { CommandCall } from '../cli/command.ts';
import type { Terminal } from '../cli/terminal.ts';
import { filesOf } from '../documents/document-text.ts';
import { EXIT, type ExitCode } from '../failure.ts';
import type { RunPlan } from '../pipeline.ts';
import type { InputReading } from '../read-project.ts';
import { formatFindings } from '../report.ts';

/** The number of hints that are shown in full: an imported schema may have thousands. */
const MOST_HINTS = 10;

/** Hints that a terminal has already shown: `dev` and `--watch` run again and again. */
const shown = new WeakMap<Terminal, Set<string>>();

/**
 * Shows findings, and says if errors stopped the run. `before`: the findings of the previous run,
 * whose hints are only counted. `unwritten`: what the errors kept from being written.
 */
export function reportFindings(
  { sources, findings }: Pick<InputReading, 'sources' | 'findings'>,
  { terminal, options }: Pick<CommandCall, 'terminal' | 'options'>,
  before: readonly Diagnostic[] = [],
  unwritten = 'nothing was written',
): void {
  if (terminal.json) return;
  const documents = (sources.documents ?? []).flatMap((each) => each.texts);
  const texts = [
    ...sources.schema,
    ...(sources.manifest ? [sources.manifest] : []),
    ...(findings.length > 0 ? filesOf(documents) : []),
  ];
  const full = options['hints'] ? findings : withoutKnown(findings, before, terminal);
  for (const [index, text] of formatFindings(full, texts, terminal.paint).entries()) {
    if (full[index]!.severity === 'error') terminal.say(`${text}\n`);
    else terminal.note(`${text}\n`);
  }
  const left = findings.filter((finding) => !full.includes(finding));
  if (left.length > 0) terminal.note(`${countHints(left)}; --hints shows them\n`);
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  if (errors > 0) terminal.say(`${errors} error${errors === 1 ? '' : 's'}; ${unwritten}`);
}

/** Errors, warnings, and the first new hints. */
function withoutKnown(
  findings: readonly Diagnostic[],
  before: readonly Diagnostic[],
  terminal: Terminal,
): Diagnostic[] {
  const known = shown.get(terminal) ?? new Set();
  shown.set(terminal, known);
  for (const finding of before) known.add(keyOf(finding));
  let hints = 0;
  const full = findings.filter(
    (finding) =>
      finding.severity !== 'hint' || (!known.has(keyOf(finding)) && ++hints <= MOST_HINTS),
  );
  for (const finding of findings) known.add(keyOf(finding));
  return full;
}

const keyOf = ({ code, summary, at }: Diagnostic): string => `${code} ${at.file} ${summary}`;

/** `12 more hints: 8 NOT_INFERRED, 4 LOOKUP_NOT_UNIQUE` */
function countHints(hints: readonly Diagnostic[]): string {
  const codes = [...Map.groupBy(hints, ({ code }) => code)].map(
    ([code, all]) => `${all.length} ${code}`,
  );
  return `${hints.length} more ${hints.length === 1 ? 'hint' : 'hints'}: ${codes.join(', ')}`;
}

/**
 * Reports inputs that make no project, with which a command can do nothing.
 *
 * @returns the exit code of the command.
 */
export function reportBrokenInputs(
  reading: Pick<InputReading, 'sources' | 'findings'>,
  call: CommandCall,
): ExitCode {
  if (call.terminal.json) call.terminal.document({ ok: false, findings: reading.findings });
  else reportFindings(reading, call);
  return exitCodeOf({ findings: reading.findings, changes: [] });
}

/** Findings that need a decision of the user although the schema itself is correct. */
const DECISIONS: ReadonlySet<string> = new Set([
  'RENAME_AMBIGUOUS',
  'ROWS_IN_THE_WAY',
  'MIGRATION_NEEDS_CONSENT',
]);

/** The exit code for these findings and changes. */
export function exitCodeOf(plan: Pick<RunPlan, 'findings' | 'changes'>): ExitCode {
  const errors = plan.findings.filter(({ severity }) => severity === 'error');
  if (errors.length > 0)
    return errors.every(({ code }) => DECISIONS.has(code)) ? EXIT.ambiguous : EXIT.invalid;
  if (plan.changes.some(({ kind }) => kind === 'edited')) return EXIT.invalid;
  return plan.changes.some(({ kind }) => kind === 'conflict') ? EXIT.conflict : EXIT.done;
}

/**
 * Stops V8's space for new objects from growing: V8 lets it grow to 128 MB, which saves a run no
 * time. Call it once everything is loaded, when the space has 4 to 8 MB. A run over 3,000 types takes
 * 120 MB less with it.
 */
export function keepNewSpaceSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}
