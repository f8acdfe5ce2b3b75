/**
 * A function of a noun that works its answer out once. The noun alone keeps the answer: when it goes, so does that.
 *
 * @example
 * const uses = remembered((definition: DefinitionNode) => usesWithin(definition));
 */
export function remembered<Noun extends object, Answer>(work: (noun: Noun) => Answer): (noun: Noun) => Answer {
  const answers = new WeakMap<Noun, { readonly answer: Answer }>();
  return (noun) => {
    const known = answers.get(noun);
    if (known) return known.answer;
    const answer = work(noun);
    answers.set(noun, { answer });
    return answer;
  };
}
