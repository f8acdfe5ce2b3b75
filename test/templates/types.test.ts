import { parse, print } from 'graphql';
import { afterEach, describe, expect, test } from 'vitest';
import { run } from '../../generator/pipeline.ts';
import { disk } from '../../generator/write/disk.ts';
import { syntheticSchema } from '../generator/synthetic.ts';
import { linkPackages, makeProject, type TestProject, typecheck } from '../generator/project.ts';
import { KITCHEN_SINK, SHAPES } from './schemas.ts';

const made: TestProject[] = [];
afterEach(() => made.splice(0).forEach((each) => each.remove()));

async function emit(schema: string, files: Record<string, string> = {}): Promise<string[]> {
  const project = await generate(schema, files);
  return typecheck(project.root);
}

async function generate(schema: string, files: Record<string, string> = {}): Promise<TestProject> {
  const project = makeProject({
    'schema.graphql': schema,
    'manifest.yaml': 'name: shop\n',
    ...files,
  });
  made.push(project);
  linkPackages(project);
  const { findings } = await run(project.root, {}, disk);
  expect(findings.filter(({ severity }) => severity === 'error')).toEqual([]);
  return project;
}

describe('an emitted project type-checks under strict', () => {
  for (const [name, schema] of Object.entries({ ...SHAPES, 'everything at once': KITCHEN_SINK })) {
    test(name, async () => {
      const project = await generate(schema);
      expect(await typecheck(project.root)).toEqual([]);
      const suppressing = Object.entries(project.files()).filter(
        ([path, text]) =>
          path.endsWith('.ts') &&
          /@ts-(?:ignore|nocheck|expect-error)|(?:eslint|oxlint)-disable/.test(text),
      );
      expect(suppressing.map(([path]) => path)).toEqual([]);
      expect(JSON.parse(project.files()['tsconfig.json']!).compilerOptions).toMatchObject({
        strict: true,
      });
    });
  }
});

/** Every project has some hundred lines that no type of its schema asks for. */
const FIXED = 110;

describe('an emitted project has at most eight lines for each line of its schema, types apart', () => {
  for (const [name, schema] of Object.entries({
    ...SHAPES,
    'everything at once': KITCHEN_SINK,
    'ten entities': syntheticSchema(10),
    'a hundred entities': syntheticSchema(100),
  })) {
    test(name, async () => {
      const files = (await generate(schema)).files();
      const emitted = Object.entries(files).filter(
        ([path]) => /^src\/generated\/.*\.ts$/.test(path) && !path.endsWith('/types.ts'),
      );
      const lines = emitted.reduce((sum, [, text]) => sum + text.split('\n').length, 0);
      expect(emitted.length).toBeGreaterThan(4);
      expect([
        name,
        lines,
        lines <= Math.max(FIXED, 8 * print(parse(schema)).split('\n').length),
      ]).toEqual([name, lines, true]);
    });
  }
});

describe('a resolver of the user', () => {
  const schema =
    'type User { id: ID! name: String! age: Int } type Query { users: [User!]! hello(name: String!): String! }';
  const resolver = (body: string) => ({
    'src/resolvers/Query.ts': `import type * as types from '../generated/types.ts';\nexport const resolvers = {\n  ${body}\n} satisfies types.QueryOverrides;\n`,
  });

  test('has typed parents, arguments and context', async () => {
    expect(
      await emit(
        schema,
        resolver(
          'hello: async (_parent, { name }, ctx) => `${name.length} ${(await ctx.db.selectFrom("users").select("age").executeTakeFirst())?.age?.toFixed()} ${(await ctx.loaders.user.load(1))?.name}`,',
        ),
      ),
    ).toEqual([]);
  });

  test.each([
    ['an argument that is not there', 'hello: (_parent, { nam }) => String(nam),'],
    ['a field that is not there', 'helo: () => "x",'],
    ['another result', 'hello: () => 1,'],
    [
      'a table that is not there',
      'hello: async (_p, _a, ctx) => String(await ctx.db.selectFrom("user").execute()),',
    ],
    [
      'a loader that is not there',
      'hello: async (_p, _a, ctx) => String(await ctx.loaders.nobody.load(1)),',
    ],
  ])('with %s is a compile error', async (_what, body) => {
    expect(await emit(schema, resolver(body))).toEqual([
      expect.stringContaining('src/resolvers/Query.ts'),
    ]);
  });
});

describe('a type of the schema with a name that types.ts has for another', () => {
  const schema = `type User { id: ID! }
"A type Data in a description is none."
input Credentials { name: String! }
type Query { users: [User!]! greet(by: Credentials!): String! }
`;
  const greeting = (type: string) => ({
    'src/resolvers/Query.ts': `import type * as types from '../generated/types.ts';\nconst nameOf = ({ name }: types.${type}) => name;\nexport const resolvers = { greet: (_parent, { by }) => nameOf(by) } satisfies types.QueryOverrides;\n`,
  });

  test('is a hint that says its name, and with this name the code compiles', async () => {
    const project = await generate(schema, greeting('Credentials'));
    const { findings } = await run(project.root, {}, disk);
    expect(findings).toEqual([
      {
        code: 'TYPE_NAME_TAKEN',
        severity: 'hint',
        summary: 'In TypeScript, Credentials of the schema is types.Credentials_',
        why: 'Credentials alone has another meaning in src/generated/types.ts',
        fix: 'write types.Credentials_ in your code, or give the type of the schema another name',
        at: { file: 'schema.graphql', line: 3, column: 7, length: 11 },
      },
    ]);
    const [, pasted = ''] = /write types\.(\w+)/.exec(findings[0]!.fix!) ?? [];
    expect(await typecheck(project.root)).not.toEqual([]);
    expect(await emit(schema, greeting(pasted))).toEqual([]);
    project.write('schema.graphql', schema.replaceAll('Credentials', 'SignIn'));
    expect((await run(project.root, {}, disk)).findings).toEqual([]);
  });
});

describe('ctx.publish', () => {
  const schema =
    'enum Level { LOW HIGH }\ntype Alarm { text: String! level: Level }\ntype Note { id: ID! text: String! }\ntype Query { notes: [Note!]! }\ntype Mutation { ring: Boolean! }\ntype Subscription { alarm(floor: Int!, level: Level): Alarm! alarms: [Alarm!]! noteUpdated: Note! level: Level }\n';
  const ringing = (publish: string) => ({
    'src/resolvers/Mutation.ts': `import type * as types from '../generated/types.ts';\nexport const resolvers = {\n  ring: async (_parent, _args, ctx) => { const note = await ctx.data.note.create({ data: { text: 'x' } }); ctx.publish(${publish}); ctx.sudo().publish('noteUpdated', note); return true; },\n} satisfies types.MutationOverrides;\n`,
  });

  test.each([
    "'alarm', { text: 'a', level: 'HIGH' }, { floor: 1 }",
    "'alarm', { text: 'a' }",
    "'alarms', [{ text: 'a' }]",
    "'noteUpdated', note",
    "'noteUpdated', { id: note.id }",
    "'level', null",
  ])('takes (%s)', async (publish) => {
    expect(await emit(schema, ringing(publish))).toEqual([]);
  });

  test.each([
    "'alarn', { text: 'a' }",
    "'alarm', { txt: 'a' }",
    "'alarm', { text: 'a' }, { flor: 1 }",
    "'alarm', { text: 'a' }, { floor: 'first' }",
    "'noteUpdated', { text: 'a' }",
    "'level', 'MIDDLE'",
  ])('with (%s) is a compile error', async (publish) => {
    expect(await emit(schema, ringing(publish))).toEqual([
      expect.stringContaining('src/resolvers/Mutation.ts'),
    ]);
  });
});

describe('ctx.data, where the members of an organization are a list', () => {
  const schema =
    'type Firm { id: ID! name: String! members: [User!]! orders: [Order!]! }\ntype User { id: ID! email: String! @unique }\ntype Order { id: ID! text: String! firm: Firm }\ntype Query { firms: [Firm!]! own: String }\n';
  const writing = (more: string) => ({
    'manifest.yaml': 'name: shop\nauth: { organizations: { type: Firm } }\n',
    'src/resolvers/Query.ts': `import type * as types from '../generated/types.ts';\nexport const resolvers = {\n  own: async (_parent, _args, ctx) => (await ctx.data.firm.create({ data: { name: 'a', ${more} } })).name,\n} satisfies types.QueryOverrides;\n`,
  });

  test('takes other lists in a write', async () => {
    expect(await emit(schema, writing("orders: { create: { text: 'x' } }"))).toEqual([]);
  });

  test('does not take the members', async () => {
    expect(await emit(schema, writing('members: { connect: 1 }'))).toEqual([
      expect.stringContaining('src/resolvers/Query.ts'),
    ]);
  });
});

test('inputs of a type with a field that every object has, such as constructor, take a literal without it', async () => {
  const schema =
    'type Car { id: ID! constructor: String price: Int! } type Query { cars: [Car!]! cheapest: Car @resolve(as: CUSTOM) }';
  const finding = (where: string) => ({
    'src/resolvers/Query.ts': `import type * as types from '../generated/types.ts';
export const resolvers = {
  cheapest: async (_parent, _args, ctx) => {
    await ctx.data.car.create({ data: { price: 1 } });
    const [car] = await ctx.data.car.findMany({ where: ${where}, orderBy: { price: 'asc' } });
    return car ?? null;
  },
} satisfies types.QueryOverrides;
`,
  });
  expect(await emit(schema, finding("{ price: 1, constructor: { eq: 'Lotus' } }"))).toEqual([]);
  expect(await emit(schema, finding('{ price: 1 }'))).toEqual([]);
  expect(await emit(schema, finding('{ constructor: 1 }'))).toHaveLength(1);
});

test('BigInt is text in rows and arguments, and a number or a bigint may be answered', async () => {
  const schema =
    'scalar BigInt\ntype Account { id: ID! balance: BigInt! doubled: BigInt! @computed }\ntype Query { account(id: ID!): Account next(after: BigInt!): BigInt! }\n';
  const resolver = (type: string, body: string) =>
    `import type * as types from '../generated/types.ts';\nexport const resolvers = { ${body} } satisfies types.${type}Overrides;\n`;
  expect(
    await emit(schema, {
      'src/resolvers/Account.ts': resolver(
        'Account',
        'doubled: ({ balance }) => 2n * BigInt(balance satisfies string)',
      ),
      'src/resolvers/Query.ts': resolver(
        'Query',
        'next: (_parent, { after }) => after.padStart(3, "0").length',
      ),
    }),
  ).toEqual([]);
});

test('a function returns a member of its result, which names its type, and members of payloads and edges know the row', async () => {
  const schema = SHAPES['results that are unions, members of payloads and edges of the user']!;
  const file = (type: string, body: string) =>
    `import type * as types from '../generated/types.ts';\nexport const resolvers = { ${body} } satisfies types.${type}Overrides;\n`;
  const files = (member: string) => ({
    'src/resolvers/Mutation.ts': file(
      'Mutation',
      `createPost: async (_parent, { title }, ctx) => title === '' ? ${member} : { __typename: 'Post', ...(await ctx.data.post.create({ data: { title } })) }`,
    ),
    'src/resolvers/CreatePostSuccess.ts': file(
      'CreatePostSuccess',
      'lastSyncId: ({ post }) => post.title.length',
    ),
    'src/resolvers/PostEdge.ts': file('PostEdge', 'addedAt: ({ node }) => node.title'),
    'src/resolvers/Post.ts': file(
      'Post',
      'avatar: ({ avatar }, { size }) => `${avatar ?? ""}?size=${size ?? 1}`',
    ),
    'src/resolvers/Taken.ts': file('Taken', 'hint: ({ message }) => message'),
  });
  expect(
    await emit(
      schema,
      files(`{ __typename: 'Taken', message: 'no', code: 'CONFLICT', field: null, fields: [] }`),
    ),
  ).toEqual([]);
  expect(await emit(schema, files(`{ __typename: 'Taken', code: 1 }`))).toEqual([
    expect.stringContaining('src/resolvers/Mutation.ts'),
  ]);
});
