import { describe, expect, it } from 'vitest';
import { formatDiagnostic } from '@twofold/schema';
import { read } from './reading.ts';

const format = (sdl: string) =>
  read(sdl)
    .diagnostics.map((finding) => formatDiagnostic(finding, sdl))
    .join('\n\n');

describe('the text of a finding', () => {
  it('is place, code, summary, the line with a mark, why and fix', () => {
    const sdl = `type Query { hello: String }\n${'\n'.repeat(9)}type User {\n  posts: [Post!]!\n  id: ID!\n}\ntype Post { id: ID! author: User! editor: User! }`;
    expect(format(sdl))
      .toBe(`schema.graphql:12:3  error  RELATION_AMBIGUOUS  Post.author and Post.editor can both be the inverse of User.posts
     11 │ type User {
     12 │   posts: [Post!]!
        │   ^^^^^
   why  two fields of Post have the type User
   fix  posts: [Post!]! @relation(inverse: "author")`);
  });

  it('cuts long lines around the mark and moves no mark with tabs', () => {
    const text = format(
      `type Query {${'\t'.repeat(5)}${'a: Int '.repeat(1)}${Array.from({ length: 60 }, (_, i) => `b${i}: Int`).join(' ')} z: Nope }`,
    );
    const [, line = '', mark = ''] = text.split('\n');
    expect(line.length).toBeLessThan(140);
    expect(line.slice(mark.indexOf('^'), mark.lastIndexOf('^') + 1)).toBe('Nope');
  });

  it('lets no control character through to the terminal', () => {
    expect(format('type Query { a: \u001b[31mInt }')).not.toContain('\u001b');
  });

  it('has no frame where there is no text', () => {
    expect(format('').split('\n')[0]).toBe(
      'schema.graphql:1:1  error  SCHEMA_EMPTY  The schema defines nothing',
    );
  });
});
