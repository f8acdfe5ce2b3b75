import { sql } from 'kysely';
import { BLOG } from './blog.ts';
import { startRest, type RestServer } from './harness.ts';

/** A blog with one author, and nothing else before each test. */
export interface Blog {
  readonly server: RestServer;
  /** The author's id. */
  author: string;
  /** Makes a post and answers with it. */
  post(title: string, more?: object): Promise<any>;
  /** No rows but the author's, and keys from 1 again. */
  reset(): Promise<void>;
}

export async function startBlog(database: 'sqlite' | 'postgres'): Promise<Blog> {
  const server = await startRest(BLOG, { database });
  const blog: Blog = {
    server,
    author: '',
    post: async (title, more = {}) =>
      (await server.call('POST', '/api/posts', { body: { title, authorId: blog.author, ...more } }))
        .body,
    reset: async () => {
      await empty(server);
      blog.author = (
        await server.call('POST', '/api/authors', {
          body: { name: 'Ada', email: 'ada@x.test', home: { city: 'Rome' } },
        })
      ).body.id;
    },
  };
  return blog;
}

async function empty({ store, project }: RestServer): Promise<void> {
  const joins = project.entities.flatMap(({ fields }) =>
    fields.flatMap(({ source }) =>
      source.kind === 'many' && source.via.kind === 'table' ? [source.via.table] : [],
    ),
  );
  const tables = [...new Set(joins), 'comments', 'posts', 'tags', 'authors'];
  if (store.dialect === 'postgres')
    await sql.raw(`truncate ${tables.join(', ')} restart identity cascade`).execute(store.db);
  else
    for (const table of [...tables, 'sqlite_sequence'])
      await sql.raw(`delete from ${table}`).execute(store.db);
}
