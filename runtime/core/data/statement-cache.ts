import { type BoundedCache, createBoundedCache } from '../store/bounded-cache.ts';
import type { Statement } from './fragment.ts';

/** Statements by node of a plan and key of its arguments. They go when the plan goes, or when there are too many. */
export interface StatementCache {
  /** The statement of `node` for arguments with this key; made when it is not there. */
  get(node: object, key: string, make: () => Statement): Statement;
  /** Characters of the statements that were made since there was room for all of them; for tests and figures. */
  readonly held: number;
}

/** A client that varies its filters makes more of them, and one with a wide selection long ones. */
const BOUNDS = { keys: 32, characters: 8_000_000 };

/**
 * When they come to too many characters, all are forgotten: making one again takes microseconds, and knowing which of them is
 * used least would cost as much on every request.
 *
 * @example statements.get(plan.node, shapeOf(calls, false), () => rootStatement(scope, plan.node)).text
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
