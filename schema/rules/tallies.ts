import { tallyOf, tallyUse, type TallyFact } from '../build/tallies.ts';
import { coordinate, type FieldFact } from '../build/facts.ts';
import { didYouMean } from '../did-you-mean.ts';
import type { Finding } from '../parse/places.ts';
import { finding, retyped, type Rule } from './finding.ts';

const TYPES = { count: 'Int', exists: 'Boolean' } as const;

/** FIELD_UNKNOWN, DIRECTIVE_WITHOUT_EFFECT: what `@count` and `@exists` name, and their types. */
export const tallies: Rule = function* ({ facts, shapes }) {
  for (const entity of facts.entities.values())
    for (const field of entity.fields.values()) {
      const fact = tallyOf(shapes, field);
      if (fact && 'unknown' in fact) yield unknownRelation(field, fact);
      if (fact && 'problems' in fact)
        for (const { code, at, summary, why, fix } of fact.problems)
          yield finding(code, at, { summary, why, fix });
      yield* wrongType(field);
    }
};

function unknownRelation(
  field: FieldFact,
  { unknown: name, of, known }: Extract<TallyFact, { unknown: string }>,
): Finding {
  const use = tallyUse(field);
  return finding('FIELD_UNKNOWN', use?.use.node, {
    summary: `@${use?.of} on ${coordinate(field)} names ${name || 'nothing'}: ${of?.name ?? 'the type'} has no such field`,
    fix: didYouMean(name, known) ?? `one of ${known.join(', ')}`,
  });
}

function* wrongType(field: FieldFact): Generator<Finding> {
  const use = tallyUse(field);
  if (!use) return;
  const wanted = TYPES[use.of];
  if (field.type.name === wanted && !field.type.list && field.args.length === 0) return;
  yield finding('DIRECTIVE_ARGUMENT', field.node, {
    summary: `${coordinate(field)} is ${field.type.text}, and @${use.of} gives ${wanted}`,
    changes: [retyped(field, `${wanted}!`)],
  });
}
