import { type BoundedCache, createBoundedCache } from '../store/bounded-cache.ts';
import type { Statement } from './sql/fragment.ts';

/**
 * Statements by plan node and by the key of the arguments. They are dropped together with their
 * plan, or when there are too many.
 */
export interface StatementCache {
  /**
   * Returns the statement of `node` for arguments with this key, and makes it when it is missing.
   */
  get(node: object, key: string, make: () => Statement): Statement;
  /** Total length of the cached statements in characters; for tests and metrics. */
  readonly held: number;
}

/** A client that varies its filters makes many statements, and a wide selection makes long ones. */
const BOUNDS = { keys: 32, characters: 8_000_000 };

/**
 * When the limit of characters is reached, all statements are dropped. Making one again takes
 * microseconds, and tracking which was used least would cost as much on every request.
 *
 * @example statements.get(plan.node, statementKey(calls, false), () => rootStatement(scope, plan.node)).text
 */
export function createStatementCache({ keys, characters } = BOUNDS): StatementCache {
  let statements = new WeakMap<object, BoundedCache<Statement>>();
  let held = 0;
  const statementsOf = (node: object) => {
    const found =
      statements.get(node) ?? createBoundedCache<Statement>({ entries: keys, bytes: characters });
    statements.set(node, found);
    return found;
  };
  const keep = (node: object, key: string, statement: Statement) => {
    held += statement.text.length;
    if (held > characters) {
      statements = new WeakMap();
      held = statement.text.length;
    }
    statementsOf(node).set(key, statement, statement.text.length);
    return statement;
  };
  return {
    get held() {
      return held;
    },
    get: (node, key, make) => statements.get(node)?.get(key) ?? keep(node, key, make()),
  };
}
