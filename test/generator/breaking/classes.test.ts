import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { generator, linkPackages, repo, type TestProject } from '../project.ts';
import { commit, committed, listOf } from './repository.ts';

const SCHEMA = `type User { id: ID! name: String! email: String! @unique posts: [Post!]! }
type Post { id: ID! title: String! body: String price: Float mood: Mood! @default(value: "CALM") author: User! }
enum Mood { CALM WILD }
type Query { posts(limit: Int, offset: Int): [Post!]! post(id: ID!): Post }
type Mutation { createPost(input: PostInput!): Post! }
input PostInput { title: String! body: String authorId: ID! }
`;
const MANIFEST = 'name: shop\napi: { rest: true, access: public }\nauth: {}\n';

const made: TestProject[] = [];
afterEach(() => made.splice(0).forEach((each) => each.remove()));

type Edit = readonly [from: string, to: string];
const edited = (text: string, edits: readonly Edit[]) =>
  edits.reduce((now, [from, to]) => {
    expect(now).toContain(from);
    return now.replace(from, to);
  }, text);

interface Given {
  readonly schema?: readonly Edit[];
  readonly manifest?: readonly Edit[];
  readonly documents?: string;
  readonly args?: readonly string[];
}

/** The changes between the project and an edited one, as `CLASS LEVEL CODE COORDINATE`. */
async function changes({ schema = [], manifest = [], documents, args = ['--no-code'] }: Given) {
  const list = documents === undefined ? {} : { 'documents.json': documents };
  const project = committed({ 'schema.graphql': SCHEMA, 'manifest.yaml': MANIFEST, ...list });
  made.push(project);
  project.write('schema.graphql', edited(SCHEMA, schema));
  project.write('manifest.yaml', edited(MANIFEST, manifest));
  const { code, stdout } = await generator(['breaking', '--json', ...args], project.root);
  const found = JSON.parse(stdout).changes as Record<string, string>[];
  return {
    code,
    lines: found.map(
      (each) => `${each['class']} ${each['level']} ${each['code']} ${each['coordinate']}`,
    ),
  };
}

describe('breaking: rest', () => {
  it('names routes, members and values that are gone, new required input and other types', async () => {
    const { code, lines } = await changes({
      schema: [
        [' post(id: ID!): Post', ''],
        [' body: String price: Float', ' price: String'],
        [
          'input PostInput { title: String! body: String',
          'input PostInput { title: String! price: Float!',
        ],
        ['CALM WILD', 'CALM LOUD'],
      ],
    });
    expect(code).toBe(1);
    expect(lines).toEqual(
      expect.arrayContaining([
        'rest breaking ROUTE_REMOVED GET /api/posts/{id}',
        'rest breaking MEMBER_REMOVED Post.body',
        'rest breaking ANSWER_TYPE_CHANGED Post.price',
        'rest breaking VALUE_REMOVED Mood.WILD',
        'rest dangerous ANSWER_VALUE_ADDED Mood.LOUD',
      ]),
    );
  });

  it('names members of a body that are gone or newly required', async () => {
    const { lines } = await changes({
      schema: [['title: String! body: String authorId', 'title: String! price: Float! authorId']],
    });
    expect(lines).toEqual(
      expect.arrayContaining([
        'rest breaking MEMBER_REMOVED PostInput.body',
        'rest breaking INPUT_REQUIRED PostInput.price',
      ]),
    );
  });

  it('is judged by itself: a mandatory list changes nothing of it', async () => {
    const required: Given = {
      schema: [['body: String price', 'price']],
      manifest: [['access: public', 'access: public, trusted_documents: { file: documents.json }']],
      documents: listOf('query Titles { posts { title } }'),
    };
    const { lines } = await changes(required);
    expect(lines).toContain('rest breaking MEMBER_REMOVED Post.body');
  });
});

describe('breaking: access, data and settings', () => {
  it('names each rule that is wider or narrower, and fails for it only when it is asked to', async () => {
    const given: Given = {
      schema: [['type Post {', 'type Post @auth(allow: [USER]) {']],
      manifest: [['access: public', 'access: user']],
    };
    const { code, lines } = await changes(given);
    expect([code, lines.filter((line) => line.startsWith('access'))]).toEqual([
      0,
      [
        'access dangerous ACCESS_NARROWER api.access',
        'access dangerous ACCESS_WIDER Post',
        'access dangerous ACCESS_NARROWER Post',
      ],
    ]);
    expect((await changes({ ...given, args: ['--no-code', '--fail-on', 'dangerous'] })).code).toBe(
      1,
    );
  });

  it.each([
    [
      'values can be rounded',
      ['price: Float', 'price: Int'],
      'data breaking TYPE_CHANGED posts.price',
    ],
    [
      'rows may have no value',
      ['body: String price', 'body: String! price'],
      'data dangerous COLUMN_REQUIRED posts.body',
    ],
    ['a value is gone', ['CALM WILD', 'CALM'], 'data dangerous VALUE_REMOVED posts.mood'],
    [
      'values may repeat',
      ['title: String! body', 'title: String! @unique body'],
      'data dangerous UNIQUE_ADDED posts.title',
    ],
    [
      'the release before fails',
      ['body: String price', 'text: String @renamed(from: "body") price'],
      'data dangerous COLUMN_RENAMED posts.body',
    ],
    [
      'no row is concerned',
      ['body: String price', 'body: String more: Int price'],
      'data safe COLUMN_ADDED posts.more',
    ],
  ] as const)('says of rows: %s', async (_title, edit, line) => {
    expect((await changes({ schema: [edit] })).lines).toContain(line);
  });

  it('leaves a column that only left the schema, and counts one that a migration drops', async () => {
    const project = committed({ 'schema.graphql': SCHEMA, 'manifest.yaml': MANIFEST });
    made.push(project);
    linkPackages(project);
    await generator(['generate', '--quiet'], project.root);
    commit(project);
    project.write(
      'schema.graphql',
      SCHEMA.replace(' body: String price', ' price').replace('body: String authorId', 'authorId'),
    );
    const asked = async () =>
      JSON.parse((await generator(['breaking', '--json', '--no-code'], project.root)).stdout)
        .changes as { class: string; code: string; level: string }[];
    expect((await asked()).filter((each) => each.class === 'data')).toEqual([]);
    expect(
      await generator(['generate', '--quiet', '--allow-drop', 'Post.body'], project.root),
    ).toMatchObject({ code: 0 });
    expect((await asked()).filter((each) => each.class === 'data')).toMatchObject([
      { code: 'COLUMN_DROPPED', level: 'breaking' },
    ]);
  });

  it('names another path, a lower limit and a list that is mandatory now', async () => {
    const { lines } = await changes({
      manifest: [
        [
          'access: public',
          'access: public, path: /api/graphql, limits: { depth: 5, time: 1s }, trusted_documents: { file: documents.json }',
        ],
      ],
      documents: listOf(),
    });
    expect(lines).toEqual(
      expect.arrayContaining([
        'api breaking API_PATH_CHANGED api.path',
        'api breaking LIMIT_LOWERED api.limits.depth',
        'api breaking DOCUMENTS_REQUIRED api.trusted_documents.required',
        'api dangerous LIMIT_LOWERED api.limits.time',
      ]),
    );
  });
});

describe('breaking: code', () => {
  it('has the errors that the base does not have, with file, line and column', async () => {
    const own =
      "import type { PostRow } from '../generated/types.ts';\n\nexport const shout = (post: PostRow): string => (post.body ?? '').toUpperCase();\nexport const old: number = 'an error of the base';\n";
    const project = committed({ 'schema.graphql': SCHEMA, 'manifest.yaml': MANIFEST });
    made.push(project);
    mkdirSync(project.path('node_modules'));
    symlinkSync(join(repo, 'node_modules/typescript'), project.path('node_modules/typescript'));
    await generator(['generate', '--quiet'], project.root);
    project.write('src/own/shout.ts', own);
    project.write(
      'tsconfig.json',
      '{ "compilerOptions": { "noEmit": true, "strict": true, "skipLibCheck": true, "module": "nodenext", "target": "esnext", "allowImportingTsExtensions": true, "types": [] }, "include": ["src/own"] }',
    );
    commit(project);
    project.write(
      'schema.graphql',
      SCHEMA.replace(' body: String price', ' price').replace('body: String authorId', 'authorId'),
    );
    const { stdout } = await generator(['breaking', '--json'], project.root);
    const code = (JSON.parse(stdout).changes as { class: string }[]).filter(
      (each) => each.class === 'code',
    );
    expect(code).toMatchObject([
      {
        level: 'breaking',
        code: 'TS2339',
        coordinate: 'src/own/shout.ts',
        at: { file: 'src/own/shout.ts', line: 3, column: 55 },
      },
    ]);
  });
});
