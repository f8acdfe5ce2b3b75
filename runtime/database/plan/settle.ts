import type { Dialect } from '@twofold/runtime/store';
import { effectOf } from '../tables/effects.ts';
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
  const online = runsOnline(found, settling) && effectOf(does).online === true;
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
  if (unread && effectOf(does).rows) return 'unknown';
  if (!finding) return 'safe';
  if (finding.code === 'ROWS_IN_THE_WAY') return 'impossible';
  // A migration contains a drop only because the user wrote it, or named it with --allow-drop.
  return does === 'drop' || allowLoss.has(object) ? 'allowed' : 'lossy';
}

function fixOf(found: FoundStep): string | null {
  const { finding, compatible, does, statementText } = found;
  if (does === 'unknown') return `read it before it runs: ${shortened(statementText ?? '')}`;
  const said = finding && does !== 'drop' ? `${finding.what}: ${finding.fix}` : null;
  const steps = compatible ? null : expandAndContract(found);
  return [said, steps].filter((each) => each !== null).join('. ') || null;
}

const shortened = (text: string) => (text.length > 200 ? `${text.slice(0, 200)} …` : text);

/** What to do instead of a step on which servers of the previous release would fail. */
function expandAndContract({ does, object }: FoundStep): string | null {
  const steps = effectOf(does).instead?.(object, object.includes('.') ? 'field' : 'type');
  return steps
    ? `without downtime: ${steps.map((each, at) => `release ${at + 1}: ${each}`).join('; ')}`
    : null;
}

/** The lock of a step, and which other statements wait for it. */
type Waiting = Pick<PlanStep, 'lock' | 'blocks' | 'online'>;

/** The lock that a step holds while it looks at rows online. */
const ONLINE_LOCK = 'SHARE UPDATE EXCLUSIVE';

/** `online`: whether the step will run online. */
function waitingFor(dialect: Dialect, { does, table }: FoundStep, online: boolean): Waiting {
  const { lock, blocks, moment } = effectOf(does);
  if (table === null && does !== 'unknown' && does !== 'drop')
    return { lock: null, blocks: 'nothing', online: false };
  // SQLite has one writer.
  if (dialect === 'sqlite')
    return { lock: 'RESERVED', blocks: moment ? 'nothing' : 'writes', online: false };
  return online ? { lock: ONLINE_LOCK, blocks: 'nothing', online } : { lock, blocks, online };
}
