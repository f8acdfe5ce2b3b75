import { describe, expect, it } from 'vitest';
import { comparable, expected, serve, withoutIncremental } from './conformance.ts';
import { randomExecutable, randomOperation } from './random-executable.ts';
import { createRandom } from './random-schema.ts';

/**
 * As many cases as the public corpus has, of schemas of the same kind, made here: none is copied. The
 * public corpus itself is `node test/graphql/run-conformance.ts <checkout>/corpus`.
 */
describe('an operation over any schema', () => {
  const SCHEMAS = Number(process.env['CONFORMANCE_SCHEMAS'] ?? 282);

  it(`answers what graphql-js answers, data to the letter and errors at their places: ${SCHEMAS} schemas`, async () => {
    let answered = 0;
    for (let seed = 1; seed <= SCHEMAS; seed += 1) {
      const random = createRandom(seed);
      const sdl = randomExecutable(random);
      const ask = serve(sdl);
      for (let index = 0; index < 10; index += 1) {
        const asked = randomOperation(random, sdl);
        const wanted = await expected(asked);
        if (wanted.data) answered += 1;
        const [ours, theirs] = [comparable(await ask(asked)), comparable(wanted)];
        expect({ seed, index, query: asked.query, answer: ours }).toEqual({
          seed,
          index,
          query: asked.query,
          answer: theirs,
        });
      }
    }
    expect(answered).toBeGreaterThan(SCHEMAS * 5);
  }, 600_000);

  it('has neither @defer nor @stream', () => {
    const text = withoutIncremental(
      'directive @defer(if: Boolean) on FIELD { a @stream { b @skip(if: true) } ... @defer { c } }',
    );
    expect(text.replaceAll(/\s+/g, ' ')).toBe('{ a { b @skip(if: true) } ... { c } }');
  });
});
