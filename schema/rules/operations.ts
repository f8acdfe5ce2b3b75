import { coordinate } from '../build/facts.ts';
import { withDirective, finding } from './finding.ts';
import type { Rule } from './finding.ts';

/** NOT_INFERRED, RESOLVE_IMPOSSIBLE: a field that looks like something we could do, and why it is left to the user. */
export const operations: Rule = function* ({ operations: all, entities }) {
  for (const { field, refusal } of all) {
    if (!refusal) continue;
    const said = field.directives.resolve;
    if (said) yield finding('RESOLVE_IMPOSSIBLE', `${coordinate(field)} cannot be ${said.as}: ${refusal.why}`, said.node, { fix: refusal.fix ?? withDirective(field, '@resolve(as: CUSTOM)') });
    else yield notInferred(coordinate(field), refusal.why, refusal.fix ?? withDirective(field, '@resolve(as: CUSTOM)'), field.node);
  }
  for (const { refusals } of entities) {
    for (const { field, refusal } of refusals) yield notInferred(coordinate(field), refusal.why, refusal.fix ?? withDirective(field, '@computed'), field.node);
  }
};

function notInferred(name: string, why: string, fix: string, node: Parameters<typeof finding>[2]) {
  return finding('NOT_INFERRED', `${name} is yours to write`, node, { why, fix }, 'hint');
}
