import { readProject } from '@twofold/schema';
import { describe, expect, it } from 'vitest';

const MANIFEST = 'name: found\nauth: {}\n';

/** The findings of a schema that are errors, by code and with their text. */
function findings(sdl: string, manifest = MANIFEST): string[] {
  const { diagnostics } = readProject({
    schema: [{ file: 'schema.graphql', text: sdl }],
    manifest: { file: 'manifest.yaml', text: manifest },
  });
  return diagnostics
    .filter(({ code }) => code.startsWith('SEARCH_'))
    .map(({ code, summary }) => `${code} ${summary}`);
}

const QUERY = 'type User { id: ID! email: String! } type Query { posts(search: String): [Post!]! }';

describe('@search', () => {
  it('is fine on texts, with a rank and a highlight', () => {
    expect(
      findings(
        `type Post @search(fields: ["title"], language: "german") { id: ID! title: String! rank: Float @search(as: RANK) excerpt: String @search(as: HIGHLIGHT, of: "title") } ${QUERY}`,
      ),
    ).toEqual([]);
  });

  it.each([
    ['@search { id: ID! title: String }', 'SEARCH_FIELD @search on Post names no field'],
    [
      '@search(fields: ["titel"]) { id: ID! title: String }',
      'SEARCH_FIELD Post has no field titel',
    ],
    [
      '@search(fields: ["views"]) { id: ID! views: Int }',
      'SEARCH_FIELD Post.views cannot be searched',
    ],
    [
      '@search(fields: ["author"]) { id: ID! author: User }',
      'SEARCH_FIELD Post.author cannot be searched',
    ],
    [
      '@search(fields: ["note"]) { id: ID! note: String @auth(allow: [USER]) }',
      'SEARCH_FIELD_GUARDED Post.note cannot be searched',
    ],
    [
      '@search(fields: ["title"], language: "klingon") { id: ID! title: String }',
      'SEARCH_LANGUAGE There is no language "klingon" to search in',
    ],
    [
      '@search(fields: ["title"]) { id: ID! title: String rank: Int @search(as: RANK) }',
      'SEARCH_FIELD Post.rank is Int, and @search(as: RANK) gives Float',
    ],
    [
      '@search(fields: ["title"]) { id: ID! title: String body: String more: String @search(as: HIGHLIGHT, of: "body") }',
      'SEARCH_FIELD @search on Post.more shows body, which is not searched',
    ],
    [
      '{ id: ID! title: String rank: Float @search(as: RANK) }',
      'SEARCH_FIELD @search on Post.rank shows nothing',
    ],
  ])('finds what is wrong in %s', (type, finding) => {
    expect(findings(`type Post ${type} ${QUERY}`)).toEqual([finding]);
  });

  it('is refused where the tables are those of others', () => {
    const sdl = `type Post @search(fields: ["title"]) { id: ID! title: String } ${QUERY}`;
    const manifest = `${MANIFEST}database: { managed: false }\n`;
    expect(findings(sdl, manifest)).toEqual(['SEARCH_UNMANAGED Post cannot be searched']);
  });
});
