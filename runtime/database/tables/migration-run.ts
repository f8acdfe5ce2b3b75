import { AsyncLocalStorage } from 'node:async_hooks';
import { AppError } from '@twofold/runtime/errors';
import type { DroppedValues, RowCheck } from '@twofold/runtime/store';
import type { RecordedStep } from './alteration.ts';
import type { Doing } from './effects.ts';

/** Rows that prevent a step of a migration, or that it would change with loss. */
export interface RowsAtRisk {
  /**
   * `ROWS_IN_THE_WAY`: the step cannot run. `MIGRATION_NEEDS_CONSENT`: it can run but loses
   * something.
   */
  readonly code: 'ROWS_IN_THE_WAY' | 'MIGRATION_NEEDS_CONSENT';
  readonly migration: string;
  /** Counted from 1 in the order in which the migration's statements run. */
  readonly step: number;
  readonly does: Doing;
  /** `posts.rating` */
  readonly object: string;
  /** The number of rows. */
  readonly rows: number;
  readonly atRisk: number;
  /** The first five rows, by key. */
  readonly keys: readonly string[];
  readonly what: string;
  readonly fix: string;
}

export type Finding = Omit<RowsAtRisk, 'migration' | 'step'>;

/** A statement of a migration that has run. */
export interface DoneStatement {
  readonly migration: string;
  /** The number of the statement, from 1. */
  readonly statement: number;
  /** Milliseconds. */
  readonly time: number;
}

/** The state of running migrations: the current step, permitted losses, and findings. */
export interface MigrationRun {
  migration: string;
  step: number;
  /** The statement or table of the current step. */
  object: string | null;
  /** When the statement began, by the clock of the process. */
  started?: number | undefined;
  onStep?: ((done: DoneStatement) => void) | undefined;
  /** Larger than 0 inside a step with several statements. */
  depth: number;
  /** Coordinates of columns that may lose something: `posts.rating`. */
  allowLoss: ReadonlySet<string>;
  readonly found: RowsAtRisk[];
  /**
   * Set while a `down` is recorded: what the next statement drops, and what it requires of rows.
   */
  readonly recorded?: { readonly drops: DroppedValues[]; readonly checks: RowCheck[] };
  /** Set while steps are only told, for a plan. Each counts as made. */
  readonly told?: RecordedStep[];
  /** Saves values that the next statement drops. */
  readonly rescue?: (dropped: DroppedValues) => Promise<void>;
}

/** Where a migration failed. */
export type FailedAt = Pick<MigrationRun, 'migration' | 'step' | 'object'>;

/** `migration 0002_add_x, step 3 (posts.title)`, or what comes before the first step. */
export function placeOf({ migration, step, object }: FailedAt): string {
  if (migration === '') return 'the ledger of migrations';
  const at = step === 0 ? '' : `, step ${step}`;
  return `migration ${migration}${at}${object === null ? '' : ` (${object})`}`;
}

const running = new AsyncLocalStorage<MigrationRun>();

export function createRun(): MigrationRun {
  return { migration: '', step: 0, object: null, depth: 0, allowLoss: new Set(), found: [] };
}

/** Runs migrations so that their steps are tracked. */
export function withRun<T>(run: MigrationRun, work: () => Promise<T>): Promise<T> {
  return running.run(run, work);
}

/** Called when the next statement of a migration begins, and the one before it is done. */
export function beginStep(run: MigrationRun, object: string | null): void {
  finishStep(run);
  Object.assign(run, { step: run.step + 1, object, started: performance.now() });
}

export function finishStep(run: MigrationRun): void {
  const { migration, step, started } = run;
  run.started = undefined;
  if (started === undefined) return;
  run.onStep?.({ migration, statement: step, time: performance.now() - started });
}

/** Runs a step with several statements, which count as one. It is not run while steps are only told. */
export async function asStep(
  step: RecordedStep,
  object: string,
  work: () => Promise<void>,
): Promise<void> {
  const run = running.getStore();
  if (!run) return work();
  if (run.told) return void run.told.push(step);
  if (run.depth === 0) beginStep(run, object);
  run.depth += 1;
  try {
    await work();
  } finally {
    run.depth -= 1;
  }
}

/** What the running migration notes for the ledger; undefined when it is run and not recorded. */
export function recorded(): MigrationRun['recorded'] {
  return running.getStore()?.recorded;
}

/** Called before a statement drops values. */
export async function beforeDrop(dropped: DroppedValues): Promise<void> {
  const run = running.getStore();
  run?.recorded?.drops.push(dropped);
  await run?.rescue?.(dropped);
}

export function isAllowed(coordinate: string): boolean {
  return running.getStore()?.allowLoss.has(coordinate) ?? false;
}

/**
 * Records rows that prevent a step. The run goes on, so that all of them are reported, and is then
 * rolled back.
 *
 * @throws AppError at once when no migration is running.
 */
export function reportRows(finding: Finding): void {
  const run = running.getStore();
  const found = { ...finding, migration: run?.migration ?? '', step: run?.step ?? 0 };
  if (!run) throw rowsError([found]);
  run.found.push(found);
}

/**
 * One error for all findings. Its text has each step, the number of rows and their first keys.
 *
 * @param pending the migrations that were to be applied; none when one was to be undone
 */
export function rowsError(
  found: readonly RowsAtRisk[],
  pending: readonly { readonly name: string }[] = [],
): AppError {
  const impossible = found.filter(({ code }) => code === 'ROWS_IN_THE_WAY');
  const [first] = impossible.length > 0 ? impossible : found;
  const again = impossible.length > 0 ? rewritingAdvice(impossible[0]!, pending) : '';
  return new AppError(
    500,
    first!.code,
    `${found.map(formatRows).join('\n')}\nNothing was changed.${again}`,
    { extensions: { ...first, found } },
  );
}

/**
 * Another migration cannot help one before it, so a schema that was mended is not enough. What
 * follows it builds on it.
 */
function rewritingAdvice(
  { migration }: RowsAtRisk,
  pending: readonly { readonly name: string }[],
): string {
  const at = pending.findIndex(({ name }) => name === migration);
  const files = pending.slice(at).filter(({ name }) => !name.includes('/'));
  if (at < 0 || files.length === 0) return '';
  const names = files.map(({ name }) => name).join(', ');
  return ` If you change the schema, delete ${names} in migrations/, which no database has applied: npm run generate writes anew what ${files.length === 1 ? 'it makes' : 'they make'}.`;
}

/** One step and its rows, as two lines of text. */
function formatRows(found: RowsAtRisk): string {
  const place = found.migration === '' ? '' : `${found.migration}, step ${found.step}: `;
  return `${place}${found.what} (${keysOf(found)})\n   fix  ${found.fix}`;
}

function keysOf({ keys, atRisk }: RowsAtRisk): string {
  const more = atRisk > keys.length ? ', …' : '';
  return `${atRisk === 1 ? 'key' : 'keys'} ${keys.join(', ')}${more}`;
}
