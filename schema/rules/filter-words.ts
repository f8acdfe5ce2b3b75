import { coordinate, type FieldFact } from '../build/facts.ts';
import type { UnknownWord } from '../build/shapes.ts';
import type { Built } from '../build/built.ts';
import { finding, listed, type Rule } from './finding.ts';

/** FILTER_WORD: an unknown operator in a filter, such as `_eq` of Hasura. */
export const filterWords: Rule = function* (built) {
  for (const [word, fields] of unknownWords(built)) {
    const names = [...fields].map(coordinate);
    const [first] = fields;
    yield {
      ...finding('FILTER_WORD', word.at, {
        summary: `${word.coordinate} is no word that we know`,
        why: `${listed(names)} ${names.length > 1 ? 'are' : 'is'} yours to write with it`,
        fix: word.fix,
        severity: 'warning',
      }),
      ...(first && { coordinate: coordinate(first) }),
    };
  }
};

/** Each unknown operator, with the fields that cannot be served because of it. */
function unknownWords({ operations, entities }: Built): Map<UnknownWord, Set<FieldFact>> {
  const found = new Map<UnknownWord, Set<FieldFact>>();
  const byPlace = new Map<unknown, UnknownWord>();
  const refusals = [...operations, ...entities.flatMap((entity) => entity.refusals)];
  for (const { field, refusal } of refusals)
    for (const word of refusal?.words ?? []) {
      const known = byPlace.get(word.at) ?? word;
      byPlace.set(word.at, known);
      found.set(known, (found.get(known) ?? new Set()).add(field));
    }
  return found;
}
