import { describe, expect, it } from 'vitest';
import { createRules } from '../../runtime/core/data/access/access.ts';
import { indexModel } from '../../runtime/core/data/model.ts';
import type { Call, Planned, Root, Selection } from '../../runtime/core/data/plan.ts';
import { createScope } from '../../runtime/core/data/sql/scope.ts';
import { batchStatement, rootStatement } from '../../runtime/core/data/select/select.ts';
import { statementKey } from '../../runtime/core/data/statement-key.ts';
import { projectOf, user } from './harness.ts';

/** Plan in, SQL out: no document, no database. */
const model = indexModel(
  projectOf(
    `
  interface Titled { id: ID! title: String! }
  type User { id: ID! name: String! email: String posts(limit: Int): [Post!]! }
  type Post implements Titled @auth(allow: [OWNER], owner: "author") { id: ID! title: String! author: User! about: Titled }
  type Page implements Titled { id: ID! title: String! }
  input UserFilter { name: TextFilter } input TextFilter { eq: String }
  type Query { users(where: UserFilter, limit: Int): [User!]! user(id: ID!): User posts: [Post!]! titled: [Titled!]! }
  `,
    'name: test\napi: { access: public }\nauth: {}\n',
  ),
);
const LIST = {
  filters: [],
  paging: { default: 20, max: 100, limit: 'limit' },
  order: [{ column: 'id', descending: false }],
  where: { arg: 'where', shape: 'UserFilter' },
};
const title: Planned = { kind: 'column', key: 'title', column: 'title' };
const posts: Planned = {
  kind: 'many',
  key: 'posts',
  entity: 'Post',
  link: { kind: 'column', column: 'author_id' },
  list: LIST,
  call: 1,
  selection: { entity: 'Post', fields: [title], row: false },
};
const users: Root = {
  kind: 'list',
  entity: 'User',
  list: LIST,
  call: 0,
  selection: {
    entity: 'User',
    fields: [{ kind: 'column', key: 'id', column: 'id' }, posts],
    row: false,
  },
};
const named: Selection = {
  entity: 'User',
  fields: [{ kind: 'column', key: 'n', column: 'name' }],
  row: false,
};

const scopeOf = (dialect: 'sqlite' | 'postgres', calls: readonly Call[], tree = false) =>
  createScope({ model, rules: createRules(model, user(1)), dialect, calls, marker: '$m', tree });
const textsOf = (root: Root, calls: readonly Call[], tree = false) => [
  rootStatement(scopeOf('sqlite', calls, tree), root).text,
  rootStatement(scopeOf('postgres', calls, tree), root).text,
];
const KEY: Call = { equals: [{ column: 'id', value: '7' }], order: [] };

/** PostgreSQL sends nothing that is longer than the first place says. */
const bounded = (query: string) =>
  `select case when octet_length(q.j) > $1 then '!' || octet_length(q.j) else q.j end as j from (${query.replaceAll(/\$(\d)/g, (_, place) => `$${Number(place) + 1}`)} offset 0) q`;
/** Where SQLite lets the statement be ended. */
const step = (alias: string) => `(${alias}."id" % 17 or twofold_step())`;

describe('a statement', () => {
  const list = (more: Partial<Call> = {}): Call => ({
    equals: [],
    order: [{ column: 'id', descending: false }],
    page: { limit: 20, offset: 0, backwards: false },
    ...more,
  });
  const statement = (dialect: 'sqlite' | 'postgres', calls: Call[]) =>
    rootStatement(scopeOf(dialect, calls), users);

  it('is one for a whole selection, with the rules in it', () => {
    expect(statement('sqlite', [list(), list()]).text).toBe(
      `select (select json_group_array(json_object('id', cast(t1."id" as text), 'posts', (select json_group_array(json_object('title', t2."title")) from (select t3."title" from "posts" t3 where ${step('t3')} and ((t3."author_id" = t1."id") and (t3."author_id" = ?)) order by t3."id" limit +?) t2))) from (select t4."id" from "users" t4 where t4."id" % 17 or twofold_step() order by t4."id" limit +?) t1) as j`,
    );
    expect(statement('postgres', [list(), list()])).toMatchObject({
      text: bounded(
        `select ((select coalesce(json_agg(json_build_object('id', t1."id"::text, 'posts', (select coalesce(json_agg(json_build_object('title', t2."title")), '[]'::json) from (select t3."title" from "posts" t3 where (t3."author_id" = t1."id") and (t3."author_id" = $1) order by t3."id" limit $2) t2))), '[]'::json) from (select t4."id" from "users" t4 order by t4."id" limit $3) t1))::text as j`,
      ),
      parameters: [
        { from: 'bytes' },
        { from: 'caller' },
        { from: 'call', call: 1, path: ['page', 'limit'] },
        { from: 'call', call: 0, path: ['page', 'limit'] },
      ],
    });
  });

  it('is the same for all values of one shape, and another for another shape', () => {
    const where = (value: unknown) => [list({ where: { name: { eq: value } } }), list()];
    expect(statementKey(where('a'), false)).toBe(statementKey(where("b' or 1=1"), false));
    expect(statement('sqlite', where('a')).text).toBe(statement('sqlite', where('b')).text);
    const shapes = [
      where('a'),
      where(null),
      [list(), list()],
      [
        list({
          order: [
            { column: 'name', descending: true },
            { column: 'id', descending: false },
          ],
        }),
        list(),
      ],
      [list({ page: { limit: 5, offset: 2, backwards: false } }), list()],
    ];
    const texts = shapes.map((calls) => statement('sqlite', calls).text);
    expect(new Set(texts).size).toBe(5);
    expect(new Set(shapes.map((calls) => statementKey(calls, false))).size).toBe(5);
  });

  it('of one row is a select by its key', () => {
    expect(textsOf({ kind: 'get', entity: 'User', call: 0, selection: named }, [KEY])).toEqual([
      `select json_object('n', t1."name") as j from "users" t1 where t1."id" = ? order by t1."id" limit 1`,
      bounded(
        `select (json_build_object('n', t1."name"))::text as j from "users" t1 where t1."id" = $1 order by t1."id" limit 1`,
      ),
    ]);
  });

  it('has types, whole rows and marks in it for the executor', () => {
    const author: Planned = {
      kind: 'one',
      key: 'author',
      required: true,
      link: { key: 'own', column: 'author_id' },
      selection: named,
    };
    const root: Root = {
      kind: 'get',
      entity: 'Post',
      call: 0,
      selection: {
        entity: 'Post',
        fields: [
          author,
          { kind: 'refused', key: 'x', code: 'FORBIDDEN' },
          { ...title, only: [[{ kind: 'caller', column: 'author_id' }]] },
        ],
        row: false,
      },
    };
    expect(textsOf(root, [KEY], true)).toEqual([
      `select json_object('$', 'Post', 'author', case when t2."id" is not null then json_object('$', 'User', 'n', t2."name") else json('{"$m":"MISSING"}') end, 'x', json('{"$m":"FORBIDDEN"}'), 'title', case when t1."author_id" = ? then t1."title" else json('{"$m":"FORBIDDEN"}') end) as j from "posts" t1 left join "users" t2 on t2."id" = t1."author_id" where (t1."id" = ?) and (t1."author_id" = ?) order by t1."id" limit 1`,
      bounded(
        `select (json_build_object('$', 'Post', 'author', coalesce((select json_build_object('$', 'User', 'n', t2."name") from "users" t2 where t2."id" = t1."author_id" limit 1), '{"$m":"MISSING"}'::json), 'x', '{"$m":"FORBIDDEN"}'::json, 'title', case when t1."author_id" = $1 then to_json(t1."title") else '{"$m":"FORBIDDEN"}'::json end))::text as j from "posts" t1 where (t1."id" = $2) and (t1."author_id" = $3) order by t1."id" limit 1`,
      ),
    ]);
  });

  it('of rows of several types is their union, with a case for each', () => {
    const members = ['Post', 'Page'].map((entity) => ({
      entity,
      selection: { entity, fields: [title], row: false },
    }));
    expect(
      textsOf({ kind: 'abstractList', type: 'Titled', list: LIST, call: 0, members }, [list()])[0],
    ).toBe(
      `select (select json_group_array(case t1."$type" when 'Post' then (select json_object('title', t5."title") from "posts" t5 where (t5."id" = t1."id") and (t5."author_id" = ?)) when 'Page' then (select json_object('title', t6."title") from "pages" t6 where t6."id" = t1."id") end) from (select * from (select 'Post' as "$type", t2."id" from "posts" t2 where ${step('t2')} and (t2."author_id" = ?) union all select 'Page' as "$type", t3."id" from "pages" t3 where t3."id" % 17 or twofold_step()) t4 order by "id" nulls last, "$type" limit +?) t1) as j`,
    );
  });

  it('of one field for many parents has their keys as one value', () => {
    expect(batchStatement(scopeOf('sqlite', [list(), list()]), 'User', posts, 'id').text).toBe(
      `select k.i as i, (select json_group_array(json_object('title', t1."title")) from (select t2."title" from "posts" t2 where ${step('t2')} and ((t2."author_id" = k.key_) and (t2."author_id" = ?)) order by t2."id" limit +?) t1) as j from (select key as i, value as key_ from json_each(?)) k where twofold_step()`,
    );
    expect(
      batchStatement(scopeOf('postgres', [list(), list()]), 'User', posts, 'id'),
    ).toMatchObject({
      text: `select i, case when s > $1 then '!' || s else j end as j from (select i, j, sum(octet_length(j)) over () as s from (select (k.i - 1)::int as i, ((select coalesce(json_agg(json_build_object('title', t1."title")), '[]'::json) from (select t2."title" from "posts" t2 where (t2."author_id" = k.key_) and (t2."author_id" = $2) order by t2."id" limit $3) t1))::text as j from unnest($4::bigint[]) with ordinality k(key_, i) offset 0) q) w`,
      parameters: [
        { from: 'bytes' },
        { from: 'caller' },
        { from: 'call', call: 1, path: ['page', 'limit'] },
        { from: 'keys' },
      ],
    });
  });
});
