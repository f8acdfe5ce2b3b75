import { AsyncLocalStorage } from 'node:async_hooks';
import { AppError } from '../errors.ts';

/** Rows that a step of a migration would lose, change or be refused by. */
export interface RowsAtRisk {
  /** `ROWS_IN_THE_WAY`: the step cannot run. `MIGRATION_NEEDS_CONSENT`: it runs and loses something. */
  readonly code: 'ROWS_IN_THE_WAY' | 'MIGRATION_NEEDS_CONSENT';
  readonly migration: string;
  /** Counted from 1 in the order in which the migration's statements run. */
  readonly step: number;
  readonly does: Doing;
  /** `posts.rating` */
  readonly object: string;
  /** Rows of the table. */
  readonly rows: number;
  readonly atRisk: number;
  /** The first five, by key. */
  readonly keys: readonly string[];
  readonly what: string;
  readonly fix: string;
}

export type Doing = 'add' | 'require' | 'unique' | 'check' | 'type' | 'reference';

export type Finding = Omit<RowsAtRisk, 'migration' | 'step'>;

/** What is known while migrations run: where they are, what is allowed, and what was found. */
export interface MigrationRun {
  migration: string;
  step: number;
  /** Statement or table that the step is about. */
  object: string | null;
  /** Above zero inside a step that makes several statements. */
  depth: number;
  /** Coordinates of columns that may lose something: `posts.rating`. */
  allowLoss: ReadonlySet<string>;
  readonly found: RowsAtRisk[];
}

const running = new AsyncLocalStorage<MigrationRun>();

export function createRun(): MigrationRun {
  return { migration: '', step: 0, object: null, depth: 0, allowLoss: new Set(), found: [] };
}

/** Runs migrations that are to be watched. */
export function withRun<T>(run: MigrationRun, work: () => Promise<T>): Promise<T> {
  return running.run(run, work);
}

/** Begins a step that makes several statements: they count as one. */
export async function asStep<T>(object: string, work: () => Promise<T>): Promise<T> {
  const run = running.getStore();
  if (!run) return work();
  if (run.depth === 0) Object.assign(run, { step: run.step + 1, object });
  run.depth += 1;
  try {
    return await work();
  } finally {
    run.depth -= 1;
  }
}

export function isAllowed(coordinate: string): boolean {
  return running.getStore()?.allowLoss.has(coordinate) ?? false;
}

/**
 * Notes rows that are in the way, so that all of them are reported at once and nothing is kept of the run. Outside of a run
 * there is nothing to go on for.
 *
 * @throws AppError outside of a run.
 */
export function reportRows(finding: Finding): void {
  const run = running.getStore();
  const found = { ...finding, migration: run?.migration ?? '', step: run?.step ?? 0 };
  if (!run) throw rowsError([found]);
  run.found.push(found);
}

/** All that was found, as one failure: its text names each step, its count of rows and their first keys. */
export function rowsError(found: readonly RowsAtRisk[]): AppError {
  const impossible = found.filter(({ code }) => code === 'ROWS_IN_THE_WAY');
  const [first] = impossible.length > 0 ? impossible : found;
  return new AppError(
    500,
    first!.code,
    `${found.map(formatRows).join('\n')}\nNothing was changed.`,
    {
      extensions: { ...first, found },
    },
  );
}

/** One step and its rows, in two lines. */
export function formatRows(found: RowsAtRisk): string {
  const place = found.migration === '' ? '' : `${found.migration}, step ${found.step}: `;
  return `${place}${found.what} (${keysOf(found)})\n   fix  ${found.fix}`;
}

function keysOf({ keys, atRisk }: RowsAtRisk): string {
  const more = atRisk > keys.length ? ', …' : '';
  return `${atRisk === 1 ? 'key' : 'keys'} ${keys.join(', ')}${more}`;
}
