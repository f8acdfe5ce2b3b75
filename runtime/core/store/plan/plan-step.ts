import type { Finding } from '../migration-run.ts';
import type { Preparation } from '../online/preparation.ts';

/** What a step does to its object. */
export type Does =
  | 'create'
  | 'drop'
  | 'rename'
  | 'add'
  | 'type'
  | 'default'
  | 'require'
  | 'relax'
  | 'unique'
  | 'check'
  | 'reference'
  | 'index'
  | 'search'
  | 'value'
  | 'unknown';

/** One change within a migration, and the rows that it would meet. */
export interface FoundStep {
  readonly does: Does;
  /** `posts.rating`, the name of a table or of an index. */
  readonly object: string;
  /** The table whose rows it meets, by its name in the database now; null for a new one. */
  readonly table: string | null;
  /** Number of the statement of the migration that makes it, from 1. */
  readonly statement: number;
  /** Rows of the table now. */
  readonly rows: number;
  readonly finding: Finding | null;
  /** The first values at risk, for `--values`. */
  readonly values?: readonly string[];
  /** Whether a statement before it may change its rows, so that they cannot be counted now. */
  readonly unread: boolean;
  /** Servers of the release before go on with it. */
  readonly compatible: boolean;
  /** What of it can be made before the transaction of its migration, on PostgreSQL. */
  readonly preparations: readonly Preparation[];
  /** The text of a statement that cannot be read. */
  readonly statementText?: string;
}

export type Verdict = 'safe' | 'lossy' | 'allowed' | 'impossible' | 'unknown';

export type Blocks = 'nothing' | 'writes' | 'everything';

/** A step as `migrate plan --json` has it. */
export interface PlanStep {
  /** Counted from 1 within its migration. */
  readonly step: number;
  readonly does: Does;
  readonly object: string;
  readonly rows: number;
  readonly verdict: Verdict;
  readonly atRisk: number;
  /** The first five at risk, by key. */
  readonly keys: readonly string[];
  /** Their values, only when they are asked for. */
  readonly values?: readonly string[];
  /** The strongest lock that it takes on its table; null for none. */
  readonly lock: string | null;
  /** What has to wait while it looks at rows or rewrites them. */
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
