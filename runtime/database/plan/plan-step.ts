import type { Blocks, Does } from '../tables/effects.ts';
import type { Finding } from '../tables/migration-run.ts';
import type { Preparation } from '../online/preparation.ts';

/** One change within a migration, and the rows that it would meet. */
export interface FoundStep {
  readonly does: Does;
  /** `posts.rating`, the name of a table or of an index. */
  readonly object: string;
  /** The present name of the table whose rows the step changes or reads; null for a new table. */
  readonly table: string | null;
  /** The number of the statement in its migration, from 1. */
  readonly statement: number;
  /** The present number of rows in the table. */
  readonly rows: number;
  readonly finding: Finding | null;
  /** The first values at risk, for `--values`. */
  readonly values?: readonly string[];
  /** Whether an earlier statement may change the rows, so that they cannot be counted now. */
  readonly unread: boolean;
  /** Whether servers of the previous release go on working after the step. */
  readonly compatible: boolean;
  /**
   * The parts of the step that can be prepared before the transaction of its migration, on
   * PostgreSQL.
   */
  readonly preparations: readonly Preparation[];
  /** The text of a statement that cannot be read. */
  readonly statementText?: string;
}

export type Verdict = 'safe' | 'lossy' | 'allowed' | 'impossible' | 'unknown';

/** A step in the output of `migrate plan --json`. */
export interface PlanStep {
  /** Counted from 1 within its migration. */
  readonly step: number;
  readonly does: Does;
  readonly object: string;
  readonly rows: number;
  readonly verdict: Verdict;
  readonly atRisk: number;
  /** The first five rows at risk, by key. */
  readonly keys: readonly string[];
  /** The values of these rows; only when they were requested. */
  readonly values?: readonly string[];
  /** The strongest lock that it takes on its table; null for none. */
  readonly lock: string | null;
  /** Which statements wait while the step reads or rewrites rows. */
  readonly blocks: Blocks;
  readonly online: boolean;
  readonly compatible: boolean;
  readonly fix: string | null;
}

export interface MigrationPlan {
  readonly name: string;
  readonly steps: readonly PlanStep[];
}

export interface Plan {
  /** Whether every step can run as it is. */
  readonly ok: boolean;
  readonly database: {
    readonly dialect: string;
    readonly name: string;
    readonly guarded: boolean;
  };
  readonly migrations: readonly MigrationPlan[];
}
