import { buildSchema, printSchema } from 'graphql';
import { describe, expect, it } from 'vitest';
import { directivesSdl, readProject } from '@twofold/schema';
import { projectOf, QUERY } from './reading.ts';

describe('the served SDL', () => {
  it('is the text of the user, word for word', () => {
    const sdl =
      '# the shop\n\n"""\nEverything\n"""\ntype   Query{\n\tusers (limit: Int, offset: Int) : [ User ! ] ! # all\n}\ntype User { id: ID! }\n';
    expect(projectOf(sdl).sdl).toBe(sdl);
  });

  it('gives every list the arguments that page it, and those of an interface too', () => {
    const sdl = (root: string, listed: string, nested: string, connected: string) => `
      type Query { authors${root}: [Author!]! few(take: Int${listed}): [Author!]! @resolve(as: LIST) named${root}: [Named!]! top: [Post!]! post(id: ID!): Post }
      interface Named { id: ID! posts${nested}: [Post!]! }
      type Author implements Named { id: ID! tags: [String!]! posts${nested}: [Post!]! } # all
      type Post { id: ID! author: Author! comments${connected}: CommentConnection! @relation(inverse: "post") }
      type Comment { id: ID! post: Post! @relation(inverse: "comments") }
      type CommentConnection { edges: [CommentEdge!]! } type CommentEdge { node: Comment! cursor: String! }`;
    const page = '(limit: Int, offset: Int)';
    const ours = / @(?:resolve|relation)\([^)]*\)/g;
    expect(projectOf(sdl('', '', '', '')).sdl).toBe(
      sdl(page, ', offset: Int', page, '(first: Int, after: String)').replaceAll(ours, ''),
    );
  });

  it('leaves out what our directives add, and nothing else', () => {
    const sdl = `directive @mine(a: Int) on FIELD_DEFINITION
type Query { users(limit: Int @constraint(max: 5), offset: Int): [User!]! @list(max: 5) @mine(a: 1) old: Int @deprecated(reason: "it's @unique") }
type User
  @entity(plural: "people") # the people
  @index(fields: ["name"])
{
  id: ID! # key
  name: String! # name of "@default"
    @unique @default(
      value: "x"
    ) age: Int
  "@computed is only text here" b: Int @computed
}
extend type User @auth(allow: [PUBLIC])
enum E { A @renamed(from: "B") C }
input I @oneOf { a: Int @constraint(min: 1) b: Int }`;
    const served = projectOf(sdl).sdl;
    const wanted = buildSchema(`${sdl} ${directivesSdl}`);
    expect(served).not.toMatch(/@entity|@index|@constraint|@list|@auth|@renamed|@default\(/);
    expect(served).toContain('# the people');
    expect(printSchema(buildSchema(served))).toBe(
      printSchema(buildSchema(printWithoutOurs(printSchema(wanted)))),
    );
  });

  it('joins several files, extensions among them', () => {
    const { project } = readProject({
      schema: [
        { file: 'a.graphql', text: QUERY },
        { file: 'b.graphql', text: 'extend type Query { b: B } type B { id: ID! @unique }' },
        { file: 'c.graphql', text: '# nothing' },
      ],
      manifest: null,
    });
    expect(printSchema(buildSchema(project?.sdl ?? ''))).toBe(
      printSchema(buildSchema('type Query { hello: String b: B } type B { id: ID! }')),
    );
  });

  it('starts well after a byte order mark', () => {
    expect(() => buildSchema(projectOf(`\uFEFF${QUERY}`).sdl)).not.toThrow();
  });
});

/** `printSchema` prints no uses of directives, so only our definitions have to go. */
function printWithoutOurs(sdl: string): string {
  const ours = new Set(
    printSchema(buildSchema(`${directivesSdl} type Query { a: Int }`))
      .split('\n\n')
      .filter((block) => !block.startsWith('type Query')),
  );
  return sdl
    .split('\n\n')
    .filter((block) => !ours.has(block))
    .join('\n\n');
}
