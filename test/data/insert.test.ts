import { describe, expect, it } from 'vitest';
import { createRules } from '../../runtime/core/data/access/access.ts';
import { insertStatement, readsTableAgain } from '../../runtime/core/data/select/insert.ts';
import { indexModel } from '../../runtime/core/data/model.ts';
import type { Get, Planned, Selection } from '../../runtime/core/data/plan.ts';
import { createScope } from '../../runtime/core/data/sql/scope.ts';
import { projectOf, user } from '../graphql/harness.ts';

const model = indexModel(
  projectOf(
    `
    type User { id: ID! name: String! email: String posts(limit: Int): [Post!]! }
    type Post { id: ID! title: String! author: User! }
    type Secret @auth(allow: [OWNER], owner: "owner") { id: ID! text: String owner: User! }
    type Query { users: [User!]! }
    type Mutation { createPost(title: String!, authorId: ID!): Post! createSecret(text: String): Secret }
  `,
    'name: test\napi: { access: public }\nauth: {}\n',
  ),
);
const scope = (dialect: 'sqlite' | 'postgres') =>
  createScope({
    model,
    rules: createRules(model, user(1)),
    dialect,
    calls: [],
    marker: '$m',
    tree: false,
  });
const column = (key: string, of = key): Planned => ({ kind: 'column', key, column: of });
const selectionOf = (entity: string, ...fields: Planned[]): Selection => ({
  entity,
  fields,
  row: false,
});
const get = (of: Selection): Get => ({ kind: 'get', entity: of.entity, call: 0, selection: of });
const author = (of: Selection): Planned => ({
  kind: 'one',
  key: 'author',
  required: true,
  link: { key: 'own', column: 'author_id' },
  selection: of,
});
const posts: Planned = {
  kind: 'many',
  key: 'posts',
  entity: 'Post',
  call: 1,
  link: { kind: 'column', column: 'author_id' },
  list: {} as never,
  selection: selectionOf('Post', column('id')),
};

describe('the statement of an insert', () => {
  it('answers with the key and what is shown of the new row', () => {
    const root = get(
      selectionOf('Post', column('title'), author(selectionOf('User', column('name')))),
    );
    expect(insertStatement(scope('sqlite'), ['title', 'author_id'], root).text).toBe(
      `insert into "posts" ("title", "author_id") values (?, ?) returning "posts"."id" as id, json_object('title', "posts"."title", 'author', coalesce((select json_object('name', t1."name") from "users" t1 where t1."id" = "posts"."author_id" limit 1), json('{"$m":"MISSING"}'))) as j`,
    );
    expect(insertStatement(scope('postgres'), ['title'], root).text).toMatch(
      /^insert into "posts" \("title"\) values \(\$1\) returning "posts"."id" as id, \(json_build_object\('title', "posts"."title", .*\)::text as j$/,
    );
  });

  it('has a place for each column, and none of their values', () => {
    const { parameters } = insertStatement(
      scope('sqlite'),
      ['title', 'author_id'],
      get(selectionOf('Post', column('title'))),
    );
    expect(parameters).toMatchObject([
      { from: 'row', column: 'title', as: { type: 'text' } },
      { from: 'row', column: 'author_id' },
    ]);
    expect(
      insertStatement(scope('sqlite'), [], get(selectionOf('Post', column('title')))).text,
    ).toMatch(/^insert into "posts" default values returning /);
  });

  it('shows nothing of a row that the caller may not read', () => {
    const { text, parameters } = insertStatement(
      scope('sqlite'),
      ['text', 'owner_id'],
      get(selectionOf('Secret', column('text'))),
    );
    expect(text).toContain(
      `case when "secrets"."owner_id" = ? then json_object('text', "secrets"."text") end`,
    );
    expect(parameters.map(({ from }) => from)).toEqual(['row', 'row', 'caller']);
  });

  it('is not enough where the same table is read again, however deep', () => {
    expect(
      readsTableAgain(selectionOf('Post', column('id'), author(selectionOf('User', column('id'))))),
    ).toBe(false);
    expect(readsTableAgain(selectionOf('Post', author(selectionOf('User', posts))))).toBe(true);
    expect(readsTableAgain(selectionOf('User', posts))).toBe(false);
    const connection: Planned = {
      kind: 'connection',
      key: 'posts',
      type: 'PostConnection',
      entity: 'Post',
      call: 1,
      list: {} as never,
      fields: [{ kind: 'totalCount', key: 'n' }],
    };
    expect(readsTableAgain(selectionOf('Post', author(selectionOf('User', connection))))).toBe(
      true,
    );
    const abstract: Planned = {
      kind: 'abstract',
      key: 'subject',
      required: false,
      typeColumn: 't',
      column: 'c',
      members: [{ entity: 'Post', selection: selectionOf('Post') }],
    };
    expect(readsTableAgain(selectionOf('Post', abstract))).toBe(true);
  });
});
