import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../generator/pipeline.ts';
import { disk } from '../../generator/write/disk.ts';
import { systemContext } from '../../runtime/core/own-context/system-context.ts';
import { KNOWN_SCALARS } from '../../schema/scalars.ts';
import { VALUES } from '../data/scalar-values.ts';
import { linkPackages, makeProject, type TestProject, typecheck } from '../generator/project.ts';
import { databases, startServer, type TestServer } from './harness.ts';

/** A value of each scalar, as a caller sends it. */
const SENT: Readonly<Record<string, unknown>> = {
  ...Object.fromEntries(KNOWN_SCALARS.map((name) => [name, VALUES[name]?.[0]])),
  ID: 'a',
  String: 'b',
  Int: 3,
  Float: 1.5,
  Boolean: true,
  Mood: 'SAD',
  JSON: { a: [1] },
  Void: null,
};
const NAMES = Object.keys(SENT).filter((name) => SENT[name] !== null);

/** A list of bytes is JSON, whose form in rows is that of a Buffer as JSON. */
const LISTED = NAMES.filter((name) => !['Byte', 'Bytes'].includes(name));

const INPUT_FIELDS = [
  ...NAMES.map((name) => `one${name}: ${name}`),
  ...LISTED.map((name) => `all${name}: [${name}!]`),
].join(' ');
const SDL = `
  ${KNOWN_SCALARS.map((name) => `scalar ${name}`).join(' ')}
  enum Mood { HAPPY SAD }
  type BlogPost { id: ID! ${INPUT_FIELDS} author: Author }
  type Author { id: ID! }
  input NewBlogPost { ${INPUT_FIELDS} }
  type Query { blogPosts: [BlogPost!]! rows: [BlogPost!]! }
  type Mutation { createBlogPost(input: NewBlogPost!): BlogPost! }
`;

const INPUT = Object.fromEntries([
  ...NAMES.map((name) => [`one${name}`, SENT[name]]),
  ...LISTED.map((name) => [`all${name}`, [SENT[name], SENT[name]]]),
]);

/** A value as TypeScript, so that its type is the narrowest. */
const literal = (value: unknown): string =>
  value instanceof Uint8Array
    ? `new Uint8Array([${value.join()}])`
    : Array.isArray(value)
      ? `[${value.map(literal).join()}]`
      : JSON.stringify(value);

const made: TestProject[] = [];
afterEach(() => made.splice(0).forEach((each) => each.remove()));

describe.each(databases)('BlogPostRow on %s (acceptance 9)', (database) => {
  let server: TestServer;
  const parents: any[] = [];
  beforeAll(async () => {
    server = await startServer(SDL, {
      database,
      resolvers: {
        Query: {
          rows: (_: any, __: any, ctx: any) => ctx.db.selectFrom('blogPosts').selectAll().execute(),
        },
        BlogPost: { oneInt: (row: any) => (parents.push(row), row.oneInt) },
      },
    });
    const { errors } = await server.query(
      'mutation($input: NewBlogPost!) { createBlogPost(input: $input) { id } }',
      { input: INPUT },
    );
    expect(errors).toBeUndefined();
  });
  afterAll(() => server?.close());

  it('is what ctx.db, ctx.data and resolvers get, for every scalar, by type check', async () => {
    const ctx: any = systemContext({ store: server.store, log: { child: () => ({}) } as never });
    const [row] = await ctx.db.selectFrom('blogPosts').selectAll().execute();
    expect(await ctx.data.blogPost.findFirst({})).toEqual(row);
    await server.query('{ blogPosts { oneInt } rows { oneInt } }');
    expect(parents).toEqual([row, row]);
    for (const name of NAMES) expect([name, row[`one${name}`] === null]).toEqual([name, false]);
    const members = Object.entries(row).map(([name, value]) => `${name}: ${literal(value)}`);
    const project = makeProject({
      'schema.graphql': SDL,
      'manifest.yaml': 'name: shop\n',
      'src/rows.ts': `
        import type * as types from './generated/types.ts';
        type Known<Type> = 0 extends 1 & Type ? 'any' : unknown extends Type ? 'unknown' : 'known';
        type Names = Exclude<keyof types.BlogPostRow, \`\${string}JSON\${string}\` | \`\${string}GeoJSON\`>;
        export const known: { [Name in Names]: Known<types.BlogPostRow[Name]> } = {} as { [Name in Names]: 'known' };
        export const row = { ${members.join(', ')} } satisfies types.BlogPostRow;
        export const all: Required<{ [Name in keyof types.BlogPostRow]: unknown }> = row;
      `,
    });
    made.push(project);
    linkPackages(project);
    await run(project.root, {}, disk);
    expect(await typecheck(project.root)).toEqual([]);
  });
});
