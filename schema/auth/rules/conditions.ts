import type { Built } from '../../build/built.ts';
import { readCondition } from '../../build/conditions.ts';
import type { AuthUse } from '../../directives/of-both.ts';
import type { Finding } from '../../parse/places.ts';
import { finding } from '../../rules/finding.ts';

/** AUTH_CONDITION, AUTH_CLAIM_UNKNOWN: the operators and values of a `where` must be valid. */
export function* checkCondition(
  { facts, shapes }: Built,
  use: AuthUse,
  entity: string | undefined,
): Generator<Finding> {
  if (!use.where) return;
  const fact = entity === undefined ? undefined : facts.entities.get(entity);
  if (!fact)
    return yield finding(
      'AUTH_CONDITION',
      'where is about rows, and this field is yours to write',
      use.where,
      { fix: '@auth(allow: [USER]), and a condition in your function' },
    );
  for (const { code, at, summary, why, fix } of readCondition(shapes, fact, use.where).problems)
    yield finding(code, summary, at, { why, fix });
}
