import { isInputObjectType } from 'graphql';
import type { Built } from '../build/built.ts';
import { coordinate, type FieldFact } from '../build/facts.ts';
import { ownMembers } from '../build/own-members.ts';
import type { Refusal } from '../build/shapes.ts';
import type { Change } from '../parse/changes.ts';
import type { Finding } from '../parse/places.ts';
import { finding, onField, type Rule } from './finding.ts';

/**
 * NOT_INFERRED, CREATE_FIELD_UNSET, UPSERT_KEY_AMBIGUOUS, OPERATOR_UNFIT, VERSION_UNFIT, RESOLVE_IMPOSSIBLE: a field that resembles a known operation,
 * and why the user has to write it.
 */
export const operations: Rule = function* (built) {
  const { operations: all, entities } = built;
  for (const { field, refusal } of all) {
    if (!refusal) continue;
    if (isWritten(built, field)) {
      yield notServed(built, field, refusal);
      continue;
    }
    const written = field.directives.resolve;
    if (written)
      yield finding('RESOLVE_IMPOSSIBLE', written.node, {
        summary: `${coordinate(field)} cannot be ${written.as}: ${refusal.why}`,
        fix: (line) => (refusal.fix ? `${refusal.fix}   or write it yourself:  ${line}` : line),
        changes: [onField(field, 'resolve', { as: 'CUSTOM' })],
      });
    else if (!refusal.words)
      yield notInferred(field, refusal, onField(field, 'resolve', { as: 'CUSTOM' }));
  }
  for (const { refusals } of entities)
    for (const { field, refusal } of refusals)
      if (isWritten(built, field)) yield notServed(built, field, refusal);
      else if (!refusal.words) yield notInferred(field, refusal, onField(field, 'computed'));
  for (const field of ownMembers(built)) {
    const why = `nothing says what it holds; the other members of ${field.owner} are served`;
    yield notInferred(field, { why }, onField(field, 'computed'));
  }
};

const isWritten = ({ facts }: Built, field: FieldFact): boolean =>
  facts.parsed.crudFields?.has(coordinate(field)) === true;

/**
 * A field of `api.crud` that uses an input of the user with a member that means nothing any more.
 */
function notServed(built: Built, field: FieldFact, { code, why, fix, node }: Refusal): Finding {
  return finding(code ?? 'NOT_INFERRED', node ?? memberNamed(built, why) ?? field.node, {
    summary: `${coordinate(field)}, which api.crud writes, cannot be served`,
    why,
    fix:
      fix ??
      'take it out or mend it; eject and change the field; or leave its operation out of @crud',
    severity: 'warning',
  });
}

/** The member of an input with which a reason begins: `PostFilter.views is no field of Post …`. */
function memberNamed({ facts }: Built, why: string) {
  const [, type = '', name = ''] = /^(\w+)\.(\w+)/.exec(why) ?? [];
  const input = facts.schema.getType(type);
  const member = isInputObjectType(input) ? input.getFields()[name] : undefined;
  return member?.astNode?.name;
}

function resolving(field: FieldFact, { forced, resolve }: Refusal): Change | undefined {
  const args = resolve ?? (forced === undefined ? undefined : { as: forced });
  return args && onField(field, 'resolve', args);
}

/** A create without a required field is more often a mistake than intended. */
function notInferred(field: FieldFact, refusal: Refusal, change: Change): Finding {
  const { code, why, fix, forced, resolve, node = field.node } = refusal;
  const place = coordinate(field);
  const eject = `   and   npm run generator -- eject ${place}   for a start in your code`;
  return {
    ...finding(code ?? 'NOT_INFERRED', node, {
      summary: `${place} is yours to write`,
      why,
      fix: (line) =>
        fix ? `${fix}   or write it yourself:  ${line}` : line + (forced || resolve ? '' : eject),
      changes: [resolving(field, refusal) ?? change],
      severity: code ? 'warning' : 'hint',
    }),
    coordinate: place,
  };
}
