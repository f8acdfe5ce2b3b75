import type { Definition } from './definitions.ts';

/**
 * What was printed of a definition, for as long as the definition is there. Whatever else the text depends on is in `given`:
 * with another one it is printed again.
 *
 * @example
 * const printed = createPrinted<string>();
 * printed(definition, scalars.join(' '), () => printDefinition(definition, scalars));
 */
export function createPrinted<Text>(): (definition: Definition, given: string, print: () => Text) => Text {
  const known = new WeakMap<Definition, { readonly given: string; readonly text: Text }>();
  return (definition, given, print) => {
    const before = known.get(definition);
    if (before?.given === given) return before.text;
    const text = print();
    known.set(definition, { given, text });
    return text;
  };
}
