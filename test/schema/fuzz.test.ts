import { buildSchema, printSchema } from 'graphql';
import { describe, expect, it } from 'vitest';
import {
  buildTables,
  CRUD_FILE,
  directivesSdl,
  formatDiagnostic,
  readProject,
} from '@twofold/schema';
import type { Diagnostic } from '@twofold/schema';

/** `FUZZ=10000 npx vitest run test/schema/fuzz.test.ts` for the large number. */
const ROUNDS = Number(process.env['FUZZ'] ?? 400);

const SDL = `"""A shop"""
scalar DateTime
directive @mine(a: Int = 3) repeatable on FIELD_DEFINITION | ENUM_VALUE
interface Node { id: ID! }
union Hit = User | Post
enum Status { DRAFT LIVE @renamed(from: "OLD") }
type Query {
  users(limit: Int, offset: Int): [User!]! @auth(allow: [PUBLIC])
  user(id: ID!): User
  userByEmail(email: String!): User @mine(a: 1)
  posts(where: PostFilter, orderBy: [PostOrder!], first: Int, after: String): PostConnection! @list(orderBy: ["createdAt DESC"], max: 50)
  search(first: Int): [Hit!]!
  node(id: ID!): Node
  hello(name: String = "you" @constraint(maxLength: 5)): String!
}
type Mutation {
  createUser(input: CreateUser!): User!
  updatePost(id: ID!, input: UpdatePost!): UpdatePostPayload
  deletePost(id: ID!): Boolean! @resolve(as: DELETE)
}
type Subscription { postChanged(id: ID): Post! }
type User implements Node @entity(plural: "people", softDelete: true) @auth(allow: [OWNER], owner: "id") {
  id: ID!
  email: String @unique
  name: String! @constraint(minLength: 1, maxLength: 80, pattern: "^\\\\S")
  posts(limit: Int): [Post!]! @relation(inverse: "author")
  profile: Profile
  full: String @computed
}
type Profile { id: ID! user: User! place: Place }
type Place { city: String! near: [Place!] }
type Post @index(fields: ["author", "createdAt"]) @renamed(from: "Article") {
  id: ID!
  title: String! @default(value: "x")
  status: Status! @default(value: DRAFT)
  author: User! @relation(onDelete: CASCADE)
  editor: User
  about: Hit
  tags: [Tag!]!
  createdAt: DateTime!
  touched: DateTime @updatedAt
}
type Tag { id: ID! name: String posts: [Post!]! }
type PostConnection { edges: [PostEdge!]! pageInfo: PageInfo! totalCount: Int! }
type PostEdge { node: Post! cursor: String! }
type PageInfo { hasNextPage: Boolean! }
type UpdatePostPayload { post: Post errors: [String!]! }
input PostFilter { title: Text and: [PostFilter!] not: PostFilter author: UserFilter tags: TagList }
input Text { eq: String in: [String!] contains: String }
input UserFilter { email: Text posts: PostList }
input PostList { some: PostFilter none: PostFilter }
input TagList { some: TagFilter }
input TagFilter { name: String }
enum PostOrder { TITLE_ASC CREATED_AT_DESC }
input CreateUser { name: String! posts: Posts }
input Posts { create: [NewPost!] connect: [Key!] }
input NewPost { title: String tags: Tags authorId: ID }
input Tags { connect: [Key!] disconnect: [Key!] create: [NewTag!] }
input NewTag { name: String @constraint(maxLength: 3) }
input Key { id: ID! }
input UpdatePost { title: String authorId: ID tagIds: [ID!] tags: Tags }
extend type Query { tags: [Tag!]! }
`;

const MANIFEST = `name: shop
server: { port: 8080, cors: ["https://x.test"], trusted_proxies: [10.0.0.0/8], body_limit: 1MiB }
database: { ids: uuid }
api: { crud: true, rest: true, limits: { list: 50, time: 5s }, trusted_documents: { file: d.json } }
auth:
  profile: strict
  roles: { list: [Admin, Member], default: Member }
  register: { fields: [name] }
  rate_limits: { login-ip: 5/1m }
  routes: { "GET /api/posts": { limit: 3/1s/ip } }
  oauth: { providers: { google: {}, acme: { preset: oidc, issuer: "https://id.test" } } }
  events: { webhooks: [{ url: "https://x.test", secret_env: S }] }
hosting: { engine: { kind: docker }, domain: apps.test, models: { list: [a, { b: 1 }] } }
`;

const WORDS = [
  'User',
  'Post',
  'id',
  'ID!',
  '[',
  ']',
  '{',
  '}',
  '(',
  ')',
  '!',
  ':',
  '@',
  '|',
  '=',
  '"',
  '"""',
  '#',
  '&',
  '$',
  ',',
  '@auth',
  '@relation(inverse: "posts")',
  '@entity',
  '@unique',
  'extend',
  'type',
  'input',
  'enum',
  'null',
  '[[[[[[',
  '\u0000',
  '\uFEFF',
  '\r\n',
  '\t',
  '- ',
  ': ',
  '~',
  '*a',
  '&a ',
  '__proto__',
  'constructor',
  '9e999',
  '-1',
  'é',
  '😀',
  '\u2028',
];

/** Repeatable, so that a failure can be seen again. */
function random(seed: number): (below: number) => number {
  let state = seed + 0x9e3779b9;
  return (below) => {
    state = Math.imul(state ^ (state >>> 15), state | 1);
    state ^= state + Math.imul(state ^ (state >>> 7), state | 61);
    return ((state ^ (state >>> 14)) >>> 0) % below;
  };
}

function mutate(text: string, next: (below: number) => number): string {
  let result = text;
  for (let edits = next(4) + 1; edits > 0; edits--) {
    const [at, to] = [next(result.length + 1), next(60)];
    const word = WORDS[next(WORDS.length)] ?? '';
    const tokens: string[] = result.match(/\w+|\W/g) ?? [];
    const other = tokens[next(tokens.length || 1)] ?? '';
    const ways = [
      () => result.slice(0, at) + word + result.slice(at),
      () => result.slice(0, at) + result.slice(at + to),
      () => result.slice(0, at) + result.slice(at + to) + result.slice(at, at + to),
      () => result.slice(0, at) + other + result.slice(at + other.length),
      () => {
        const index = next(tokens.length || 1);
        return tokens.with(Math.min(index, tokens.length - 1), other).join('');
      },
      () =>
        result
          .split('\n')
          .filter((_, line) => line !== at % result.split('\n').length)
          .join('\n'),
      () => result.slice(0, at),
    ];
    result = ways[next(ways.length)]?.() ?? result;
    if (result === '') return result;
  }
  return result;
}

function check(sdl: string, manifest: string | null, label: string): void {
  const { project, diagnostics } = readProject({
    schema: [{ file: 'schema.graphql', text: sdl }],
    manifest: manifest === null ? null : { file: 'manifest.yaml', text: manifest },
  });
  expect(project === null, label).toBe(diagnostics.some(({ severity }) => severity === 'error'));
  for (const finding of diagnostics)
    checkFinding(finding, finding.at.file === 'manifest.yaml' ? (manifest ?? '') : sdl, label);
  if (!project) return;
  buildTables(project);
  expect(() => buildSchema(project.sdl), label).not.toThrow();
  if (project.crudSdl === undefined)
    expect(withoutPages(printSchema(buildSchema(project.sdl))), label).toBe(
      withoutPages(withoutOurs(sdl)),
    );
  const missing = project.entities
    .flatMap(({ fields }) => fields)
    .filter(
      ({ source }) =>
        source.kind === 'one' &&
        source.typeColumn === undefined &&
        !project.entities.some(({ name }) => name === source.entity),
    );
  expect(missing, label).toEqual([]);
}

function checkFinding(finding: Diagnostic, text: string, label: string): void {
  const lines = text.split(/\r\n|\n|\r/);
  expect(finding.code, label).toMatch(/^[A-Z]+(_[A-Z]+)*$/);
  expect(finding.fix, `${label} ${finding.summary}`).toBeTruthy();
  if (finding.at.file === CRUD_FILE) return;
  expect(finding.at.line, `${label} ${JSON.stringify(finding)}`).toBeGreaterThan(0);
  expect(finding.at.line, `${label} ${JSON.stringify(finding)}`).toBeLessThanOrEqual(
    lines.length + 1,
  );
  expect(finding.at.column, label).toBeGreaterThan(0);
  expect(formatDiagnostic(finding, text), label).not.toMatch(/\bat .*\.ts:\d+|undefined|\[object/);
}

/** Every list is served with the arguments that page it. */
const withoutPages = (text: string): string =>
  text
    .replace(
      /(?:, )?\b(?:limit|offset|first|last|after|before): (?:Int|String|ID)\b(?: = \d+)?/g,
      '',
    )
    .replace(/\(, /g, '(')
    .replaceAll('()', '');

function withoutOurs(sdl: string): string {
  const ours = new Set(
    printSchema(buildSchema(`${directivesSdl} type Query { a: Int }`))
      .split('\n\n')
      .filter((block) => !block.startsWith('type Query')),
  );
  const printed = printSchema(buildSchema(`${sdl}\n${directivesSdl}`)).split('\n\n');
  return printed.filter((block) => !ours.has(block)).join('\n\n');
}

describe('whatever the input', () => {
  it('is right to begin with', () => {
    expect(
      readProject({
        schema: [{ file: 'schema.graphql', text: SDL }],
        manifest: { file: 'manifest.yaml', text: MANIFEST },
      }).diagnostics.filter(({ severity }) => severity === 'error'),
    ).toEqual([]);
  });

  it(`answers ${ROUNDS} changed schemas with findings or a model, and never throws`, () => {
    for (let seed = 0; seed < ROUNDS; seed++) {
      const next = random(seed);
      check(
        mutate(SDL, next),
        [null, MANIFEST, 'name: x', 'name: x\nauth:'][next(4)] ?? null,
        `seed ${seed}`,
      );
    }
  }, 600_000);

  it(`answers ${ROUNDS} changed manifests with findings or a model, and never throws`, () => {
    for (let seed = 0; seed < ROUNDS; seed++)
      check(SDL, mutate(MANIFEST, random(seed + 1_000_000)), `seed ${seed}`);
  }, 600_000);

  it.each([
    '',
    ' ',
    '\uFEFF',
    '\u0000\u0001\u0002',
    '}{',
    '#',
    '"""',
    'type',
    'type Query',
    'schema { query: Q }',
    'type Query { a: Query! } extend schema @x',
    '{'.repeat(10_000),
    'type Query {'.repeat(500),
    'scalar Query',
    'input Query { a: Int }',
    'union U = U',
    'type A implements A { id: ID! }',
    'type Query { __typename: Int }',
    'enum Query { A }',
    'interface I implements I { id: ID! }',
    `type Query { a: ${'['.repeat(90)}Int${']'.repeat(90)} }`,
  ])('answers %j too', (text) => {
    check(text, text, text.slice(0, 30));
  });
});
