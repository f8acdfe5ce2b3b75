import type { SourceText } from '@twofold/schema';
import { parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { mergeSchema } from '../../../generator/import/merge/merge-schema.ts';
import { printSchema } from '../../../generator/import/print-schema.ts';
import { createRandom } from '../random.ts';
import { changeDatabase, editSchema, randomImport } from './random-import.ts';

const FILM = `type Film @table(name: "film") {
  id: ID!
  title: String!
  length: Int
  language: Language! @relation(column: "language_id")
}

type Language @table(name: "language") {
  id: ID!
  name: String!
}

type Query {
  film(id: ID!): Film
  films(limit: Int, offset: Int): [Film!]!
}
`;

const inOneFile = (text: string): SourceText[] => [{ file: 'schema.graphql', text }];

function merge(yours: string, next: string, prefer: 'yours' | 'theirs' = 'yours') {
  const merged = mergeSchema({ base: FILM, next, yours: inOneFile(yours), prefer });
  return { ...merged, text: merged.files[0]!.text };
}

describe('an import that is repeated', () => {
  it('changes no byte when neither side changed, nor when the user alone did', () => {
    const edited = `# mine\n${FILM.replace('title: String!', 'name: String! @column(name: "title") # the title').replace('  length: Int\n', '')}`;
    expect(merge(FILM, FILM).text).toBe(FILM);
    expect(merge(edited, FILM).text).toBe(edited);
  });

  it('adds what is new at the end of its type, and new types at the end of the file', () => {
    const next = FILM.replace('  length: Int\n', '  length: Int\n  year: Int\n').replace(
      'type Query',
      'type Actor @table(name: "actor") {\n  id: ID!\n  films: [Film!]!\n}\n\ntype Query',
    );
    const yours = FILM.replaceAll('Film', 'Movie');
    const { text } = merge(yours, next);
    expect(text).toContain('@relation(column: "language_id")\n  year: Int\n}');
    expect(text).toMatch(
      /type Actor @table\(name: "actor"\) \{\n {2}id: ID!\n {2}films: \[Movie!\]!\n\}\n$/,
    );
  });

  it('takes away what is gone if it was left alone, and says what stays', () => {
    const next = FILM.replace('  length: Int\n', '');
    expect(merge(FILM, next).text).toBe(next);
    const kept = merge(FILM.replace('length: Int', 'length: Int @auth(allow: [USER])'), next);
    expect(kept.gone).toEqual(['Film.length']);
    expect(kept.text).toContain('length: Int @auth(allow: [USER])');
  });

  it('takes a part that only the database changed into a field that the user renamed', () => {
    const next = FILM.replace('length: Int', 'length: Int!');
    const yours = FILM.replace('length: Int', '"Minutes." minutes: Int @column(name: "length")');
    expect(merge(yours, next).text).toContain('"Minutes." minutes: Int! @column(name: "length")');
  });

  it('keeps the user’s side of a conflict, and gives the other one on request', () => {
    const next = FILM.replace('length: Int', 'length: Float');
    const yours = FILM.replace('length: Int', 'length: Int!');
    const merged = merge(yours, next);
    expect([merged.conflicts, merged.text]).toEqual([['Film.length'], yours]);
    expect(merge(yours, next, 'theirs').text).toBe(FILM.replace('length: Int', 'length: Float'));
  });

  it('leaves alone what the user deleted, and finds what they moved to another file', () => {
    const [film, rest] = [
      FILM.slice(0, FILM.indexOf('type Language')),
      FILM.slice(FILM.indexOf('type Language')),
    ];
    const next = FILM.replace('  length: Int\n', '  length: Int!\n').replace(
      'name: String!',
      'name: String',
    );
    const { files } = mergeSchema({
      base: FILM,
      next,
      yours: [
        {
          file: 'schema.graphql',
          text: rest.replace('  films(limit: Int, offset: Int): [Film!]!\n', ''),
        },
        { file: 'schema/film.graphql', text: film },
      ],
      prefer: 'yours',
    });
    expect(files[0]!.text).toContain('  name: String\n');
    expect(files[0]!.text).not.toContain('films(');
    expect(files[1]!.text).toContain('length: Int!\n');
  });
});

/** IMPORT_EDITS=1000 is the long run. */
const EDITS = Number(process.env['IMPORT_EDITS'] ?? 200);
const SEED = Number(process.env['IMPORT_SEED'] ?? 1);

it(`${EDITS} random edits beside random changes of the database: none is lost, and the next import has nothing to do`, () => {
  for (let round = 0; round < EDITS; round++) {
    const random = createRandom(SEED * 100_000 + round);
    const before = randomImport(random);
    const after = changeDatabase(before, random);
    const [base, next] = [printSchema(before), printSchema(after.imported)];
    const edited = editSchema(base, random);
    const merged = mergeSchema({ base, next, yours: edited.files, prefer: 'yours' });
    const text = merged.files.map((file) => file.text).join('\n');
    expect(() => parse(text), `round ${round}`).not.toThrow();
    for (const mark of edited.marks) expect(text, `round ${round}`).toContain(mark);
    for (const gone of edited.deleted) expect(text, `round ${round}`).not.toContain(gone);
    for (const added of after.added) expect(text, `round ${round}`).toContain(added);
    const again = mergeSchema({ base: next, next, yours: merged.files, prefer: 'yours' });
    expect(again.files, `round ${round}`).toEqual(merged.files);
  }
});
