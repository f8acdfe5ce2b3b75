import type { ASTNode } from 'graphql';
import type { Condition } from '../model.ts';
import type { Shapes } from './shapes.ts';

/** An operator or a value of a condition that has no meaning. */
export interface ConditionProblem {
  readonly code: string;
  readonly at: ASTNode;
  readonly summary: string;
  readonly why?: string | undefined;
  readonly fix: string;
}

/** A condition that is being read. */
export interface Reading {
  readonly shapes: Shapes;
  /** The code of findings about it. */
  readonly code: string;
  readonly problems: ConditionProblem[];
}

/** An empty condition: every row meets it. */
export const NOTHING: Condition = { kind: 'all', of: [] };

export function allOf(conditions: readonly Condition[]): Condition {
  const [only] = conditions;
  return only && conditions.length === 1 ? only : { kind: 'all', of: conditions };
}

/** Notes a problem. @returns a condition in its place */
export function refuse(
  { problems, code }: Reading,
  at: ASTNode,
  problem: Pick<ConditionProblem, 'summary' | 'fix' | 'why'> & { readonly code?: string },
): Condition {
  problems.push({ code, at, ...problem });
  return NOTHING;
}
