import type { ChangedDefault } from '@twofold/schema';
import type { CommandCall } from '../cli/command.ts';
import { EXIT } from '../failure.ts';
import { changeAsData, formatChanges } from '../report.ts';
import { exitCodeOf } from '../commands/outcome.ts';
import { installedBy } from '../commands/package-manager.ts';
import type { UpgradePlan } from './plan-upgrade.ts';
import type { CodemodNote } from './run-codemods.ts';
import type { Range } from './versions.ts';

export interface UpgradeOutcome {
  readonly range: Range;
  readonly dry: boolean;
  readonly installed: boolean;
}

/** Reports what an upgrade did, or with `dry` would do, and what is left to a person. */
export function reportUpgrade(
  plan: UpgradePlan,
  { terminal }: CommandCall,
  { range, dry, installed }: UpgradeOutcome,
): void {
  const changes = plan.changes.filter(({ kind }) => kind !== 'same');
  if (terminal.json)
    return terminal.document({
      ok: exitCodeOf({ findings: plan.run.findings, changes }) === EXIT.done,
      ...range,
      dryRun: dry,
      installed,
      findings: plan.run.findings,
      changes: changes.map(changeAsData),
      codemods: plan.codemods,
      byHand: plan.byHand,
      breaking: plan.breaking,
      defaults: plan.defaults,
    });
  const { paint } = terminal;
  terminal.note(`${paint.bold(`${range.from} → ${range.to}`)}${dry ? ', nothing is written' : ''}`);
  for (const line of formatChanges(changes, paint)) terminal.note(line);
  if (changes.length === 0) terminal.note('Everything is of this version already.');
  noteList(terminal, 'Changed in your files:', plan.codemods.map(noteText));
  noteList(terminal, 'To be done by hand:', plan.byHand.map(noteText));
  noteList(terminal, 'Breaking changes that touch this project:', plan.breaking.map(breakingText));
  if (plan.otherBreaking > 0)
    terminal.note(`${plan.otherBreaking} more in CHANGELOG.md do not touch it.`);
  noteList(terminal, 'New defaults, which the project does not have:', plan.defaults.map(offer));
  const isLeft = !dry && !installed && changes.some(({ path }) => path === 'package.json');
  if (isLeft) terminal.note(`\nNext:\n  ${installedBy(plan.run.sources.root).name} install`);
}

function noteList(
  terminal: CommandCall['terminal'],
  title: string,
  lines: readonly string[],
): void {
  if (lines.length > 0) terminal.note(`\n${title}\n${lines.map((line) => `  ${line}`).join('\n')}`);
}

const noteText = ({ file, line, what }: CodemodNote) => `${file}:${line}  ${what}`;

const breakingText = ({ version, text, places }: UpgradePlan['breaking'][number]) =>
  [`${version}  ${text}`, ...places.map(({ file, line }) => `       ${file}:${line}`)].join('\n  ');

function offer({ path, before, after, reason, release }: ChangedDefault): string {
  const value = (of: unknown) => JSON.stringify(of);
  const line = path.reduceRight((inner, key) => `{ ${key}: ${inner} }`, value(after)).slice(2, -2);
  return (
    `${path.join('.')}: ${value(before)}, since ${release} ${value(after)}: ${reason}\n    ` +
    `take it with ${line} in manifest.yaml, or all of them with defaults: "${release}"`
  );
}
