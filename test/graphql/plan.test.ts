import { buildSchema, Kind, parse, type FragmentDefinitionNode, type OperationDefinitionNode } from 'graphql';
import { describe, expect, it } from 'vitest';
import { createRules } from '../../runtime/data/access.ts';
import { indexModel } from '../../runtime/data/model.ts';
import type { Call } from '../../runtime/data/plan.ts';
import { createScope } from '../../runtime/data/scope.ts';
import { rootStatement } from '../../runtime/data/select.ts';
import { shapeOf } from '../../runtime/data/shape.ts';
import { planOperation } from '../../runtime/graphql/plan/operation.ts';
import type { Principal } from '../../runtime/context/request-context.ts';
import { projectOf, user } from './harness.ts';

const project = projectOf(
  `
  type User { id: ID! name: String! email: String posts(limit: Int): [Post!]! fullName: String! @computed }
  type Post @auth(allow: [OWNER], owner: "author") { id: ID! title: String! author: User! secret: String @auth(allow: [ROLE], roles: ["admin"]) }
  input UserFilter { name: TextFilter } input TextFilter { eq: String }
  type Query { users(where: UserFilter, limit: Int): [User!]! user(id: ID!): User posts: [Post!]! }
  `,
  'name: test\napi: { access: public }\nauth: { roles: { list: [admin, member], default: member } }\n',
);
const model = indexModel(project);

function plan(text: string, principal: Principal = { kind: 'anonymous' }, variables = {}) {
  const document = parse(text);
  const operation = document.definitions.find((node): node is OperationDefinitionNode => node.kind === Kind.OPERATION_DEFINITION) as OperationDefinitionNode;
  const fragments = new Map(document.definitions.filter((node): node is FragmentDefinitionNode => node.kind === Kind.FRAGMENT_DEFINITION).map((node) => [node.name.value, node]));
  const planning = { model, rules: createRules(model, principal), selecting: { schema: buildSchema(project.sdl), fragments, variables }, isCustom: () => false, isPlain: () => true };
  return planOperation(planning, operation.operation, 'Query', operation);
}

const readRoot = (text: string, principal?: Principal, variables?: object) => {
  const root = plan(text, principal, variables).roots[0];
  if (root?.kind !== 'read') throw new TypeError(`the root is ${root?.kind}`);
  return root.plan;
};

describe('a plan', () => {
  it('is data that prints, with a number for each place that takes arguments', () => {
    const { node, calls, pure, marks } = readRoot('query ($n: Int) { users(limit: $n) { id n: name posts { title } } }', user(1));
    expect(JSON.parse(JSON.stringify(node))).toMatchObject({
      kind: 'list', entity: 'User', call: 0,
      shape: { entity: 'User', row: false, fields: [
        { kind: 'column', key: 'id', column: 'id' }, { kind: 'column', key: 'n', column: 'name' },
        { kind: 'many', key: 'posts', entity: 'Post', call: 1, link: { kind: 'column', column: 'author_id' }, shape: { fields: [{ kind: 'column', key: 'title', column: 'title' }] } },
      ] },
    });
    expect(calls.map(({ type, field }) => `${type}.${field}`)).toEqual(['Query.users', 'User.posts']);
    expect({ pure, marks }).toEqual({ pure: true, marks: false });
  });

  it('merges fields and fragments, and leaves out what a condition leaves out', () => {
    const { node } = readRoot('query ($no: Boolean!) { user(id: 1) { ...A ... on User { name email @skip(if: $no) } posts { id } } } fragment A on User { id posts { title } }', user(1), { no: true });
    expect(JSON.parse(JSON.stringify(node)).shape.fields).toMatchObject([{ key: 'id' }, { key: 'posts', shape: { fields: [{ key: 'title' }, { key: 'id' }] } }, { key: 'name' }]);
  });

  it('knows what the caller may not have, and what needs the executor', () => {
    expect(readRoot('{ users { posts { secret } } }', user(1)).pure).toBe(false);
    expect(readRoot('{ users { posts { secret } } }', user(1, 'admin')).pure).toBe(true);
    expect(readRoot('{ users { posts { author { name } } } }', user(1)).marks).toBe(true);
    expect(readRoot('{ users { fullName } }').node).toMatchObject({ shape: { row: true } });
    expect(plan('{ posts { id } }').roots[0]).toMatchObject({ kind: 'refused', code: 'UNAUTHENTICATED' });
    expect(plan('{ __schema { queryType { name } } __typename }').roots.map(({ kind }) => kind)).toEqual(['function', 'typename']);
  });
});

describe('a statement', () => {
  const list = (more: Partial<Call> = {}): Call => ({ equals: [], order: [{ column: 'id', descending: false }], page: { limit: 20, offset: 0, backwards: false }, ...more });
  const statement = (dialect: 'sqlite' | 'postgres', calls: Call[], principal = user(1)) =>
    rootStatement(createScope({ model, rules: createRules(model, principal), dialect, calls, marker: '$m', tree: false }), readRoot('{ users { id posts { title } } }', principal).node);

  it('is one for a whole selection, with the rules in it', () => {
    expect(statement('sqlite', [list(), list()]).text).toBe(
      `select (select json_group_array(json_object('id', cast(t1."id" as text), 'posts', (select json_group_array(json_object('title', t2."title")) from (select t3."title" from "posts" t3 where (t3."author_id" = t1."id") and (t3."author_id" = ?) order by t3."id" limit +?) t2))) from (select t4."id" from "users" t4 order by t4."id" limit +?) t1) as j`,
    );
    expect(statement('postgres', [list(), list()])).toMatchObject({
      text: `select ((select coalesce(json_agg(json_build_object('id', t1."id"::text, 'posts', (select coalesce(json_agg(json_build_object('title', t2."title")), '[]'::json) from (select t3."title" from "posts" t3 where (t3."author_id" = t1."id") and (t3."author_id" = $1) order by t3."id" limit $2) t2))), '[]'::json) from (select t4."id" from "users" t4 order by t4."id" limit $3) t1))::text as j`,
      places: [{ from: 'caller' }, { from: 'call', call: 1, path: ['page', 'limit'] }, { from: 'call', call: 0, path: ['page', 'limit'] }],
    });
  });

  it('is the same for all values of one shape, and another for another shape', () => {
    const where = (value: unknown) => [list({ where: { name: { eq: value } } }), list()];
    expect(shapeOf(where('a'), false)).toBe(shapeOf(where("b' or 1=1"), false));
    expect(statement('sqlite', where('a')).text).toBe(statement('sqlite', where('b')).text);
    const shapes = [where('a'), where(null), [list(), list()], [list({ order: [{ column: 'name', descending: true }, { column: 'id', descending: false }] }), list()], [list({ page: { limit: 5, offset: 2, backwards: false } }), list()]];
    const texts = shapes.map((calls) => statement('sqlite', calls).text);
    expect(new Set(texts).size).toBe(5);
    expect(new Set(shapes.map((calls) => shapeOf(calls, false))).size).toBe(5);
  });
});
