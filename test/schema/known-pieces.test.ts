import { describe, expect, it } from 'vitest';
import { createKnown, readProject } from '../../schema/index.ts';
import type { ProjectInput } from '../../schema/index.ts';
import { createRandom } from '../generator/random.ts';
import { changeSchema, printSdl, startSchema } from '../generator/random-schema.ts';

const input = (text: string, manifest = 'name: shop\n'): ProjectInput => ({
  schema: [{ file: 'schema.graphql', text }],
  manifest: { file: 'manifest.yaml', text: manifest },
});

/** Takes out, doubles or breaks some of a text, as somebody does who is still writing. */
function slip(text: string, random: ReturnType<typeof createRandom>): string {
  const at = random.whole(text.length);
  const length = random.whole(60);
  const part = text.slice(at, at + length);
  return random.chance(0.5)
    ? text.slice(0, at) + text.slice(at + length)
    : text + part + '\n' + text.slice(0, at).replace(/[^}]*$/, '');
}

describe('pieces that are known from the run before', () => {
  it('change nothing of what is read: model, findings and places, over random changes and slips', () => {
    for (let seed = 1; seed <= 40; seed++) {
      const random = createRandom(seed);
      const known = createKnown();
      let schema = startSchema(random);
      for (let step = 0; step < 12; step++) {
        schema = changeSchema(schema, random);
        const text = random.chance(0.5) ? printSdl(schema) : slip(printSdl(schema), random);
        const manifest = random.chance(0.3) ? 'name: shop\napi: { crud: true }\n' : 'name: shop\n';
        expect([seed, step, read({ ...input(text, manifest), known })]).toEqual([
          seed,
          step,
          read(input(text, manifest)),
        ]);
      }
    }
  });

  it('say the right line of each of two pieces with the same text', () => {
    const known = createKnown();
    const text =
      'type Query {\n  a: Missing\n}\n\ntype A {\n  b: Missing\n}\n\ntype A {\n  b: Missing\n}\n';
    for (let run = 0; run < 3; run++)
      expect(readProject({ ...input(text), known }).diagnostics).toEqual(
        readProject(input(text)).diagnostics,
      );
  });

  it('are the same nodes as before, but those of what changed', () => {
    const known = createKnown();
    const text = (field: string) => `type Query {\n  a: Int\n}\n\ntype A {\n  ${field}: Int\n}\n`;
    const [first, second] = [text('b'), text('c')].map((each) => {
      readProject({ ...input(each), known });
      return [...known.pieces.values()].map(([nodes]) => nodes);
    });
    expect(second![0]).toBe(first![0]);
    expect(second![1]).not.toBe(first![1]);
  });

  it('are kept while the schema cannot be parsed, and never more than those of one schema', () => {
    const known = createKnown();
    for (let run = 0; run < 50; run++)
      readProject({
        ...input(`type Query {\n  a${run}: Int\n}\n\ntype A {\n  b: Int\n}\n`),
        known,
      });
    const kept = [...known.pieces.keys()];
    expect(kept.length).toBeLessThanOrEqual(3);
    readProject({ ...input('type Query {\n  a: Int\n}\n\ntype A {'), known });
    expect([...known.pieces.keys()]).toEqual(kept);
    expect([...known.pieces.values()].every((all) => all.length === 1)).toBe(true);
  });
});

function read(given: ProjectInput) {
  const { project, diagnostics } = readProject(given);
  return JSON.stringify({ project, diagnostics });
}
