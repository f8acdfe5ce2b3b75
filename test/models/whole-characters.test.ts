import type * as Library from 'node-llama-cpp';
import { expect, it } from 'vitest';
import {
  createVocabulary,
  keepCharactersWhole,
} from '../../runtime/models/llamacpp/whole-characters.ts';

/** A model whose tokens are the 256 bytes, and which says what it is given. */
function modelOfBytes() {
  const model = {
    detokenize: (tokens: readonly number[]) => Buffer.from(tokens).toString('utf8'),
    iterateAllTokens: () => Array.from({ length: 256 }, (_, byte) => byte),
  } as unknown as Library.LlamaModel;
  const evaluate = async function* (tokens: number[]) {
    yield* tokens;
  };
  const sequence = { model, evaluate } as unknown as Library.LlamaContextSequence;
  class TokenBias {
    tokens: readonly number[] = [];
    set(tokens: readonly number[]) {
      this.tokens = tokens;
      return this;
    }
  }
  const library = { TokenBias } as unknown as Pick<typeof Library, 'TokenBias'>;
  const { refused } = keepCharactersWhole(library, sequence, createVocabulary(model));
  return async (...bytes: number[]) => {
    for await (const _token of sequence.evaluate(bytes as Library.Token[]));
    const { tokens } = refused() as unknown as TokenBias;
    return Array.from({ length: 128 }, (_, index) => 128 + index).filter(
      (byte) => !tokens.includes(byte),
    );
  };
}

const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

// Table 3-7 of the Unicode standard: well-formed sequences of UTF-8.
it.each([
  [[0xc3], 0x80, 0xbf],
  [[0xe0], 0xa0, 0xbf],
  [[0xe1], 0x80, 0xbf],
  [[0xed], 0x80, 0x9f],
  [[0xf0], 0x90, 0xbf],
  [[0xf4], 0x80, 0x8f],
  [[0x61, 0xf0, 0x9f], 0x80, 0xbf],
  [[0xf0, 0x9f, 0x98], 0x80, 0xbf],
] as const)(
  'after the bytes %j only a byte of a whole character may come',
  async (bytes, from, to) => {
    const allowedAfter = modelOfBytes();
    expect(await allowedAfter(...bytes)).toEqual(range(from, to));
  },
);

it('refuses nothing after a whole character', async () => {
  const allowedAfter = modelOfBytes();
  for (const text of ['', 'a', 'é', 'अ', '😀'])
    expect(await allowedAfter(...Buffer.from(text))).toEqual(range(128, 255));
});
