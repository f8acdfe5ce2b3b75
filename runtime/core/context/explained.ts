import type { GraphQLFormattedError } from 'graphql';
import type { RequestContext } from './request-context.ts';

/** What `POST /api/system/explain` asks for. */
export interface ExplainQuestion {
  readonly query?: unknown;
  readonly variables?: unknown;
  readonly operationName?: unknown;
  /** The caller whose rules apply: `public`, or a user. When absent, the one who asks. */
  readonly as?: unknown;
}

/** One statement that an operation takes. */
export interface ExplainedStatement {
  /** The root field of the answer that it is for. */
  readonly path: readonly string[];
  readonly sql: string;
  /** Secrets are `***`; a key that only the database will know is `<id>`. */
  readonly parameters: readonly unknown[];
  /** The lines of the database's plan. */
  readonly plan: readonly string[];
}

export interface Explained {
  readonly statements: readonly ExplainedStatement[];
  /** The functions of the project that run: `Post.minutes`, `Post.beforeOperation`. */
  readonly functions: readonly string[];
  readonly depth: number;
  readonly cost: number;
  /**
   * Errors of root fields that this caller may not use. The other root fields are still explained.
   */
  readonly errors?: readonly GraphQLFormattedError[];
}

/** Explains an operation for a caller, or says why it would not run. */
export type Explain = (
  question: ExplainQuestion,
  context: RequestContext,
) => Promise<Explained | { readonly refused: readonly GraphQLFormattedError[] }>;
