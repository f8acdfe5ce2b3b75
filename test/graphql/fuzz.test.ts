import { buildSchema } from 'graphql';
import { expect, it } from 'vitest';
import { end } from '../server/program.ts';
import { complaintsOf, fuzz } from './fuzz/fuzz.ts';
import { projectOf, serve } from './fuzz/server.ts';
import { faultIn } from './fuzz/valid-answer.ts';

/** Longer, with memory: node test/graphql/run-fuzz.ts 600 */
const SECONDS = Number(process.env['FUZZ_SECONDS'] ?? 5);
const SEED = Number(process.env['FUZZ_SEED'] ?? 7);

it(
  'the endpoint answers whatever is sent as the specifications say, and is well behind it',
  { timeout: 120_000 + SECONDS * 1000 },
  async () => {
    const program = serve(SEED, ':memory:');
    try {
      const url = await program.listening;
      const { shots } = await fuzz({
        url,
        project: projectOf(SEED),
        seed: SEED,
        milliseconds: SECONDS * 1000,
      }).catch((fault: unknown) => {
        throw new TypeError(
          `seed ${SEED}: ${fault instanceof Error ? fault.message : fault}\nthe log ends:\n${program.output().slice(-2000)}`,
          { cause: fault },
        );
      });
      expect(shots).toBeGreaterThan(10);
      expect({ seed: SEED, complaints: complaintsOf(program.output()) }).toEqual({
        seed: SEED,
        complaints: [],
      });
      expect(program.process.exitCode).toBeNull();
    } finally {
      await end(program);
    }
  },
);

it('what looks at the answers knows one that is wrong', () => {
  const { sdl } = projectOf(1);
  const schema = buildSchema(sdl, { assumeValidSDL: true });
  const asked = {
    query: '{ notes { id t: text ... on Note @skip(if: true) { mood } } }',
    variables: {},
  };
  const faults = (text: string) => faultIn(text, schema, asked);
  expect(faults('{"data":{"notes":[{"id":"1","t":"x"}]}}')).toBeUndefined();
  for (const text of [
    '',
    '[]',
    '{}',
    '{"data":null}',
    '{"data":{"notes":null}}',
    '{"data":{"notes":[{"id":"1"}]}}',
    '{"data":{"notes":[{"t":"x","id":"1"}]}}',
    '{"data":{"notes":[{"id":1,"t":"x"}]}}',
    '{"data":{"notes":[{"id":"1","t":null}]}}',
    '{"errors":[]}',
    '{"errors":[{"message":""}]}',
    '{"errors":[{"message":"x"}]}',
    '{"errors":[{"message":"x","extensions":{"code":"X"},"path":[1.5]}]}',
    '{"data":{"notes":[]},"more":1}',
    '{"errors":[{"message":"at run (/app/runtime/graphql/run.ts:1:2)","extensions":{"code":"X"}}]}',
  ]) {
    expect([text, typeof faults(text)]).toEqual([text, 'string']);
  }
});
