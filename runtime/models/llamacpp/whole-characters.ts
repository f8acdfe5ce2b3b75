import type * as Library from 'node-llama-cpp';

/** The tokens that would make bytes that are no UTF-8 of an answer, as the sampler wants them. */
export interface WholeCharacters {
  /** Asked before each token of an answer. */
  readonly refused: () => Library.TokenBias;
}

/** What a decoder writes for bytes that are no character, or not yet one. */
const REPLACEMENT = '\uFFFD';
/** Ends of answers whose refused tokens are remembered. A language has a few dozen. */
const MAX_ENDS = 500;

/**
 * A grammar of llama.cpp takes some bytes that are no UTF-8 for one character (an overlong sequence,
 * as E0 80 A0). Readers see several characters in their place, so lengths and patterns would not
 * hold. So a token is refused when the unfinished character before it and its own text do not decode.
 *
 * @param sequence The sequence that generates. Its method `evaluate` is replaced: nothing else says which token comes last.
 */
export function keepCharactersWhole(
  library: Pick<typeof Library, 'TokenBias'>,
  sequence: Library.LlamaContextSequence,
  vocabulary: Vocabulary,
): WholeCharacters {
  const { model } = sequence;
  const none = new library.TokenBias(model.tokenizer);
  const known = new Map<string, Library.TokenBias>();
  /** The tokens of a character that is not finished. */
  let end: readonly Library.Token[] = [];
  const evaluate = sequence.evaluate.bind(sequence);
  sequence.evaluate = async function* (tokens, options) {
    end = [];
    const generated = evaluate(tokens, options);
    try {
      let next = await generated.next();
      while (!next.done) {
        const after = [...end, next.value];
        end = model.detokenize(after).endsWith(REPLACEMENT) ? after : [];
        next = await generated.next(yield next.value);
      }
    } finally {
      await generated.return();
    }
  };
  const refusedAfter = (unfinished: readonly Library.Token[]) => {
    const refused = vocabulary
      .parts()
      .filter((token) => !isBegun(model.detokenize([...unfinished, token])));
    return new library.TokenBias(model.tokenizer).set(refused, 'never');
  };
  return {
    refused() {
      if (end.length === 0) return none;
      const key = end.join();
      if (known.size > MAX_ENDS) known.clear();
      const refused = known.get(key) ?? refusedAfter(end);
      known.set(key, refused);
      return refused;
    },
  };
}

/** Whether the text is whole, or only its last character is unfinished. */
function isBegun(text: string): boolean {
  const first = text.indexOf(REPLACEMENT);
  return first === -1 || first === text.length - 1;
}

/** The tokens of a model. */
export interface Vocabulary {
  /** Those with a part of a character, as the tokens of single bytes. */
  parts(): readonly Library.Token[];
}

/** They are looked for when they are first needed, which takes a fraction of a second. */
export function createVocabulary(model: Library.LlamaModel): Vocabulary {
  let found: readonly Library.Token[] | undefined;
  const isPart = (token: Library.Token) => model.detokenize([token]).includes(REPLACEMENT);
  return {
    parts: () => (found ??= [...model.iterateAllTokens()].filter(isPart)),
  };
}
