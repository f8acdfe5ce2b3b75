import { coordinate } from '../build/facts.ts';
import type { FieldFact } from '../build/facts.ts';
import type { Refusal } from '../build/shapes.ts';
import type { Finding } from '../parse/places.ts';
import { withDirective, finding } from './finding.ts';
import type { Rule } from './finding.ts';

/** NOT_INFERRED, CREATE_FIELD_UNSET, RESOLVE_IMPOSSIBLE: a field that looks like something we could do, and why it is left to the user. */
export const operations: Rule = function* ({ operations: all, entities }) {
  for (const { field, refusal } of all) {
    if (!refusal) continue;
    const said = field.directives.resolve;
    if (said)
      yield finding(
        'RESOLVE_IMPOSSIBLE',
        `${coordinate(field)} cannot be ${said.as}: ${refusal.why}`,
        said.node,
        { fix: refusal.fix ?? withDirective(field, '@resolve(as: CUSTOM)') },
      );
    else yield notInferred(field, refusal, '@resolve(as: CUSTOM)');
  }
  for (const { refusals } of entities)
    for (const { field, refusal } of refusals) yield notInferred(field, refusal, '@computed');
};

/** A create that forgets a field is more often a slip than meant. */
function notInferred(field: FieldFact, { code, why, fix }: Refusal, directive: string): Finding {
  const place = coordinate(field);
  const advice =
    fix ??
    `${withDirective(field, directive)}   and   npx generator eject ${place}   for a start in your code`;
  return finding(
    code ?? 'NOT_INFERRED',
    `${place} is yours to write`,
    field.node,
    { why, fix: advice },
    code ? 'warning' : 'hint',
  );
}
