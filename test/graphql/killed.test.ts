import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { createDatabase } from '../engines/available.ts';
import { end, newFolder, type Program, query, run } from '../server/program.ts';
import { databases } from './harness.ts';

/** More of them: KILL_ROUNDS=50 npx vitest run test/graphql/killed.test.ts */
const ROUNDS = Number(process.env['KILL_ROUNDS'] ?? 3);
const WRITERS = 6;

const PROGRAM = `
import { createServer } from '@twofold/runtime';
import { readProject } from '@twofold/schema';
const text = \`
  type Post { id: ID! title: String! revision: Int! comments: [Comment!]! tags: [Tag!]! }
  type Comment { id: ID! text: String! post: Post! }
  type Tag { id: ID! label: String! posts: [Post!]! }
  input NewPost { title: String! revision: Int! comments: NewComments tags: NewTags }
  input NewComments { create: [NewComment!] }
  input NewComment { text: String! }
  input NewTags { create: [NewTag!] }
  input NewTag { label: String! }
  type Query { posts: [Post!]! comments: [Comment!]! tags: [Tag!]! }
  type Mutation { createPost(input: NewPost!): Post! updatePost(id: ID!, revision: Int, tags: NewTags): Post deletePost(id: ID!): Boolean! createTag(label: String!): Tag! }
\`;
const manifest = { file: 'manifest.yaml', text: 'name: killed\\napi: { limits: { list: 1000000, cost: 9007199254740991, result: 1GiB } }\\n' };
const { project } = readProject({ schema: [{ file: 'schema.graphql', text }], manifest });
await createServer({ project }).serve('127.0.0.1:0');
`;

const CREATE = 'mutation ($input: NewPost!) { createPost(input: $input) { id } }';
const EVERYTHING =
  '{ posts { id title revision comments { text } tags { label } } comments { text } tags { label posts { title } } }';

/** What the server said yes to, by the title of the post. */
interface Acknowledged {
  readonly created: Map<string, string>;
  readonly revisions: Map<string, number>;
  readonly deleted: Set<string>;
  readonly tags: Set<string>;
}

const programs: Program[] = [];
afterEach(async () => void (await Promise.all(programs.splice(0).map(end))));

/** Writes until the server is gone. */
async function write(url: string, name: string, said: Acknowledged): Promise<void> {
  for (let n = 0; ; n++) {
    const title = `${name} ${n}`;
    const pair = (word: string) => [1, 2].map((each) => `${word} ${each} of ${title}`);
    const input = {
      title,
      revision: 0,
      comments: { create: pair('comment').map((text) => ({ text })) },
      tags: { create: pair('tag').map((label) => ({ label })) },
    };
    try {
      const id = (await query(url, CREATE, { input })).data.createPost.id as string;
      said.created.set(title, id);
      if (n % 3 === 0) {
        for (const revision of [1, 2, 3]) {
          // The revision and the two tags of it are one change.
          const tags = {
            create: [1, 2].map((each) => ({ label: `tag ${2 * revision + each} of ${title}` })),
          };
          const { data } = await query(
            url,
            'mutation ($id: ID!, $revision: Int!, $tags: NewTags) { updatePost(id: $id, revision: $revision, tags: $tags) { revision } }',
            { id, revision, tags },
          );
          said.revisions.set(title, data.updatePost.revision);
        }
      }
      if (n % 4 === 1) {
        // Whole posts go only when nothing refers to them.
        const alone = `${title} alone`;
        const made = await query(url, CREATE, { input: { title: alone, revision: -1 } });
        await query(url, 'mutation ($id: ID!) { deletePost(id: $id) }', {
          id: made.data.createPost.id,
        });
        said.deleted.add(alone);
      }
      const { data } = await query(
        url,
        'mutation ($label: String!) { createTag(label: $label) { label } }',
        { label: `free ${title}` },
      );
      said.tags.add(data.createTag.label);
    } catch {
      return;
    }
  }
}

function check(found: any, said: Acknowledged): void {
  const posts = new Map<string, any>(found.posts.map((post: any) => [post.title, post]));
  for (const [title, id] of said.created)
    expect([title, posts.get(title)?.id]).toEqual([title, id]);
  for (const [title, revision] of said.revisions)
    expect([title, posts.get(title).revision >= revision]).toEqual([title, true]);
  for (const title of said.deleted) expect([title, posts.has(title)]).toEqual([title, false]);
  const labels = new Set<string>(found.tags.map((tag: any) => tag.label));
  expect([...said.tags].filter((label) => !labels.has(label))).toEqual([]);
  // Whether it was acknowledged or not: all of a change, or nothing.
  for (const { title, revision, comments, tags } of posts.values()) {
    if (revision === -1) continue;
    expect({ title, comments: comments.map(({ text }: any) => text).sort() }).toEqual({
      title,
      comments: [1, 2].map((each) => `comment ${each} of ${title}`),
    });
    expect({ title, tags: tags.length }).toEqual({ title, tags: 2 + 2 * revision });
  }
  expect(found.comments).toHaveLength(
    2 * [...posts.values()].filter(({ revision }) => revision >= 0).length,
  );
  for (const { label, posts: of } of found.tags)
    expect([label, of.length]).toEqual([label, label.startsWith('free') ? 0 : 1]);
}

describe.each(databases)('a server that is killed while it writes, on %s', (database) => {
  it(
    'has every change that it said yes to, and none in part',
    { timeout: 30_000 + ROUNDS * 20_000 },
    async () => {
      const made = database === 'postgres' ? await createDatabase() : undefined;
      const folder = newFolder();
      const start = () => {
        const program = run(
          PROGRAM,
          {
            LOG_LEVEL: 'info',
            DATABASE_URL: made?.url ?? 'file:app.db',
            RATE_LIMIT_ENABLED: 'false',
          },
          folder,
        );
        programs.push(program);
        return program;
      };
      const said: Acknowledged = {
        created: new Map(),
        revisions: new Map(),
        deleted: new Set(),
        tags: new Set(),
      };
      try {
        for (let round = 0; round < ROUNDS; round++) {
          const program = start();
          const url = await program.listening;
          const before = said.created.size;
          const writers = Array.from({ length: WRITERS }, (_, writer) =>
            write(url, `round ${round} writer ${writer}`, said),
          );
          // Once it is under way, at any moment.
          while (said.created.size < before + 20) await sleep(5);
          await sleep(Math.random() * 300);
          program.process.kill('SIGKILL');
          await program.ended;
          await Promise.all(writers);
          const again = start();
          check((await query(await again.listening, EVERYTHING)).data, said);
          again.process.kill('SIGKILL');
          await again.ended;
        }
        expect(said.created.size).toBeGreaterThanOrEqual(20 * ROUNDS);
        console.log(
          `${database}: ${ROUNDS} times killed, ${said.created.size} posts, ${said.revisions.size} with revisions, ${said.deleted.size} deleted`,
        );
      } finally {
        await made?.drop();
        rmSync(folder, { recursive: true, force: true });
      }
    },
  );
});
