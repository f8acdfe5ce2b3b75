import { existsSync } from 'node:fs';
import { StatementSync } from 'node:sqlite';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * The server of `own-code.ts`, of the checkout in `TWOFOLD_ROOT`. With `BENCH_BASELINE` it uses only
 * what older checkouts have.
 */
const root = process.env['TWOFOLD_ROOT'] ?? join(import.meta.dirname, '../..');
const isOld = process.env['BENCH_BASELINE'] === '1';
const withAuth = process.env['BENCH_AUTH'] === '1';

const NOTES = `
  type Note { id: ID! title: String! text: String! @default(value: "") }
  type Query { note(id: ID!): Note }
  type Mutation { createNote(title: String!): Note! ownNote(title: String!): Note! }
`;
const MORE = `
  type Note { id: ID! title: String! text: String! @default(value: "") }
  type Memo { id: ID! title: String! text: String! @default(value: "") }
  type Tag { id: ID! title: String! @unique text: String! @default(value: "") }
  type Topic {
    id: ID!
    name: String!
    marks: [Mark!]!
    marksCount: Int! @count(relation: "marks")
    marked: Boolean! @exists(relation: "marks", where: { kind: 1 })
  }
  type Mark { id: ID! kind: Int! topic: Topic! }
  input NewNote { title: String! }
  input TagKey { title: String }
  input TagText { text: String }
  type Query { note(id: ID!): Note topics(limit: Int): [Topic!]! }
  type Mutation {
    createNote(title: String!): Note!
    ownNote(title: String!): Note!
    createMemo(title: String!): Memo!
    createNotes(input: [NewNote!]!): Int!
    upsertTag(where: TagKey!, create: NewNote!, update: TagText!): Tag!
    fillTopics: Boolean!
  }
`;
const USERS = 'type User { id: ID! email: String! @unique } type Query { user(id: ID!): User }';

const load = (path: string) => import(pathToFileURL(join(root, path)).href);
const inCore = existsSync(join(root, 'runtime/core/index.ts'));
const { createServer } = (await load(
  inCore ? 'runtime/core/index.ts' : 'runtime/index.ts',
)) as typeof import('../../runtime/core/index.ts');

async function fillTopics(_: unknown, __: unknown, ctx: any): Promise<boolean> {
  for (let index = 0; index < 1000; index += 1)
    await ctx.data.topic.create({
      data: {
        name: `topic ${index}`,
        marks: { create: [{ kind: index % 2 }, { kind: 2 }, { kind: 3 }] },
      },
    });
  return true;
}

const manifest = `name: bench\napi: { rest: false }\n${withAuth ? 'auth: {}\n' : ''}`;
const server = createServer().schema(withAuth ? USERS : isOld ? NOTES : MORE, manifest);
if (withAuth && inCore) server.with((await load('runtime/auth/index.ts')).auth());
if (!withAuth)
  server.plugin({
    name: 'own',
    resolvers: {
      Mutation: {
        ownNote: (_: unknown, { title }: { title: string }, ctx: any) =>
          ctx.data.note.create({ data: { title } }),
        ...(!isOld && { fillTopics }),
      },
    },
    ...(!isOld && {
      entityHooks: { Memo: { resolveInput: { create: () => ({ text: 'by a hook' }) } } },
    }),
  });
const running = await server.start('127.0.0.1:0', {
  env: { ...process.env, LOG_LEVEL: process.env['BENCH_LOG'] ?? 'error' },
});

/** The last statement that answered from `topics`, with its values. */
let counted: { readonly statement: StatementSync; readonly values: readonly any[] } | undefined;
const { get } = StatementSync.prototype;
StatementSync.prototype.get = function (this: StatementSync, ...values: any[]) {
  if (this.sourceSQL.includes('"marks"')) counted = { statement: this, values };
  return get.apply(this, values as never);
} as typeof get;

const BY_HAND = `
  select json_group_array(json_object(
    'id', cast(id as text), 'name', name,
    'marksCount', (select count(*) from marks where marks.topic_id = t.id),
    'marked', json(iif(exists (select 1 from marks where marks.topic_id = t.id and kind = 1), 'true', 'false'))))
  from (select id, name from topics order by id limit 100) t
`;

/** The statement of @count and @exists beside one by hand, by turns: the median of the ratios. */
async function ratioOfCounts(rounds: number): Promise<number> {
  const { DatabaseSync } = await import('node:sqlite');
  const file = process.env['DATABASE_URL']!.slice('file:'.length);
  const database = new DatabaseSync(file, { readOnly: true });
  database.function('twofold_step', { deterministic: false }, () => 1);
  const ours = database.prepare(counted!.statement.sourceSQL);
  const byHand = database.prepare(BY_HAND);
  for (const each of [ours, byHand]) each.setReturnArrays(true);
  const answers = [get.apply(ours, counted!.values as never), get.apply(byHand)];
  const [first, second] = answers.map((row) => (row as unknown as string[])[0]);
  if (first !== second) throw new Error(`the answers differ:\n${first}\n${second}`);
  const block = (statement: StatementSync, values: readonly any[]) => {
    const since = performance.now();
    for (let left = 100; left > 0; left -= 1) get.apply(statement, values as never);
    return performance.now() - since;
  };
  const ratios: number[] = [];
  for (let round = -3; round < rounds; round += 1) {
    const [hand, our, again] = [block(byHand, []), block(ours, counted!.values), block(byHand, [])];
    if (round >= 0) ratios.push(our / ((hand + again) / 2));
  }
  return ratios.sort((a, b) => a - b)[Math.floor(rounds / 2)]!;
}

async function answer(question: { readonly counts: number } | 'cpu'): Promise<number> {
  if (question !== 'cpu') return ratioOfCounts(question.counts);
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

process.on('message', (question: { readonly counts: number } | 'cpu') => {
  answer(question).then(
    (figure) => process.send?.(figure),
    (error) => (console.error(error), process.exit(1)),
  );
});
process.send?.(Number(new URL(running.url).port));
// The benchmark may be ended by a signal.
process.on('disconnect', () => process.exit());
