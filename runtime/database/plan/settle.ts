import type { Dialect } from '@twofold/runtime/store';
import { ONLINE, waitingFor } from './locks.ts';
import type { FoundStep, PlanStep, Verdict } from './plan-step.ts';

export interface SettleOptions {
  readonly dialect: Dialect;
  /** On PostgreSQL, tables with more rows than this are changed online. */
  readonly onlineFrom: number;
  readonly zeroDowntime?: boolean;
}

interface Settling extends SettleOptions {
  /** Columns that may lose something. */
  readonly allowLoss: ReadonlySet<string>;
}

/** Numbers the steps of one migration, and decides the outcome of each. */
export function settleSteps(steps: readonly FoundStep[], settling: Settling): PlanStep[] {
  return steps.map((found, at) => settle(found, at + 1, settling));
}

function settle(found: FoundStep, step: number, settling: Settling): PlanStep {
  const { does, object, rows, finding, compatible, values } = found;
  const online = runsOnline(found, settling) && ONLINE.has(does);
  return {
    step,
    does,
    object,
    rows,
    verdict: verdictOf(found, settling.allowLoss),
    atRisk: finding?.atRisk ?? 0,
    keys: finding?.keys ?? [],
    ...(values && { values }),
    ...waitingFor(settling.dialect, found, online),
    compatible,
    fix: fixOf(found),
  };
}

/** Whether a part of a step is prepared before the transaction of its migration. */
export function runsOnline(
  { rows, preparations, unread }: FoundStep,
  { dialect, onlineFrom }: Pick<SettleOptions, 'dialect' | 'onlineFrom'>,
): boolean {
  return dialect === 'postgres' && rows > onlineFrom && preparations.length > 0 && !unread;
}

function verdictOf(
  { does, object, finding, unread }: FoundStep,
  allowLoss: ReadonlySet<string>,
): Verdict {
  if (does === 'unknown') return 'unknown';
  if (unread && CHECKS.has(does)) return 'unknown';
  if (!finding) return 'safe';
  if (finding.code === 'ROWS_IN_THE_WAY') return 'impossible';
  // A migration contains a drop only because the user wrote it, or named it with --allow-drop.
  return does === 'drop' || allowLoss.has(object) ? 'allowed' : 'lossy';
}

/** Steps for which rows are read. */
const CHECKS: ReadonlySet<string> = new Set([
  'add',
  'require',
  'unique',
  'check',
  'type',
  'reference',
  'drop',
]);

function fixOf(found: FoundStep): string | null {
  const { finding, compatible, does, statementText } = found;
  if (does === 'unknown') return `read it before it runs: ${shortened(statementText ?? '')}`;
  const said = finding && does !== 'drop' ? `${finding.what}: ${finding.fix}` : null;
  const steps = compatible ? null : expandAndContract(found);
  return [said, steps].filter((each) => each !== null).join('. ') || null;
}

const shortened = (text: string) => (text.length > 200 ? `${text.slice(0, 200)} …` : text);

/**
 * Advice for a step on which servers of the previous release would fail: what to do instead,
 * release by release. Null when there is no other way.
 */
export function expandAndContract({
  does,
  object,
}: Pick<FoundStep, 'does' | 'object'>): string | null {
  const isTable = !object.includes('.');
  const it = isTable ? 'type' : 'field';
  const steps = STEPS[does]?.({ object, it });
  return steps
    ? `without downtime: ${steps.map((each, at) => `release ${at + 1}: ${each}`).join('; ')}`
    : null;
}

interface Words {
  readonly object: string;
  readonly it: string;
}

const STEPS: Readonly<Partial<Record<FoundStep['does'], (words: Words) => readonly string[]>>> = {
  rename: ({ object, it }) => [
    `add a ${it} of the new name beside ${object}, and write both`,
    `copy the rows over (migrate new), and read the new one`,
    `drop ${object} (--allow-drop)`,
  ],
  drop: ({ object, it }) => [
    `take the ${it} out of the schema; the database keeps ${object}`,
    `drop it (--allow-drop ${object}), when no server of the release before runs any more`,
  ],
  add: ({ object }) => [
    `add ${object} without "!" or with a @default`,
    `fill the rows that have none (migrate new), and make it required`,
  ],
  require: ({ object }) => [
    `write ${object} always, and fill the rows that have none (migrate new)`,
    `make it required`,
  ],
  type: ({ object }) => [
    `add a field of the new type beside ${object}, and write both`,
    `copy the values over (migrate new), and read the new one`,
    `drop ${object} (--allow-drop)`,
  ],
  value: ({ object }) => [
    `add the new value beside the old one, and write the new one`,
    `rename the rest of ${object} (@renamed), and take the old value out`,
  ],
};
