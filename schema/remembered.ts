/**
 * Caches the result of a function by its argument. Only the argument refers to the result, so both
 * are garbage collected together.
 *
 * @example
 * const uses = remembered((definition: DefinitionNode) => usesWithin(definition));
 */
export function remembered<Noun extends object, Answer>(
  work: (noun: Noun) => Answer,
): (noun: Noun) => Answer {
  const memory = createMemory<Noun, Answer>();
  return (noun) => memory(noun, NOTHING, () => work(noun));
}

/**
 * The same for results that depend on more than the argument: all other inputs have to be in
 * `given`, and a result is valid while each of them is the same.
 *
 * @example
 * const printed = createMemory<Entity, string>();
 * printed(entity, [ids, enums], () => print(entity, ids, enums));
 */
export function createMemory<Noun extends object, Answer>(): (
  noun: Noun,
  given: readonly unknown[],
  work: () => Answer,
) => Answer {
  const answers = new WeakMap<
    Noun,
    { readonly given: readonly unknown[]; readonly answer: Answer }
  >();
  return (noun, given, work) => {
    const known = answers.get(noun);
    if (known?.given.length === given.length && known.given.every((part, at) => part === given[at]))
      return known.answer;
    const answer = work();
    answers.set(noun, { given, answer });
    return answer;
  };
}

const NOTHING: readonly unknown[] = [];
