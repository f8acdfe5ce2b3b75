import {
  buildSchema,
  Kind,
  parse,
  type FragmentDefinitionNode,
  type OperationDefinitionNode,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { createRules } from '../../runtime/core/data/access/access.ts';
import { indexModel } from '../../runtime/core/data/model.ts';
import { planOperation } from '../../runtime/core/graphql/plan/operation.ts';
import { printPlan } from '../../runtime/core/graphql/plan/print.ts';
import type { Principal } from '../../runtime/core/context/request-context.ts';
import { projectOf, user } from './harness.ts';

const project = projectOf(
  `
  interface Titled { id: ID! title: String! }
  type User { id: ID! name: String! email: String @auth(allow: [OWNER], owner: "id") posts(limit: Int): [Post!]! pages(first: Int): PostConnection! @relation(inverse: "editor") fullName: String! @computed }
  type Post implements Titled @auth(allow: [OWNER], owner: "author") { id: ID! title: String! author: User! @relation(inverse: "posts") editor: User @relation(inverse: "pages") secret: String @auth(allow: [ROLE], roles: ["admin"]) about: Titled }
  type Note implements Titled @auth(allow: [ROLE], roles: ["admin"]) { id: ID! title: String! }
  type Page implements Titled { id: ID! title: String! }
  type PostConnection { edges: [PostEdge!]! nodes: [Post!]! pageInfo: PageInfo! totalCount: Int! } type PostEdge { node: Post! cursor: String! } type PageInfo { hasNextPage: Boolean! endCursor: String }
  input UserFilter { name: TextFilter } input TextFilter { eq: String }
  type Query { users(where: UserFilter, limit: Int): [User!]! user(id: ID!): User posts: [Post!]! titled: [Titled!]! }
  type PostPayload { post: Post ok: Boolean! } type Mutation { createPost(title: String!, authorId: ID!): PostPayload! deletePost(id: ID!): Boolean! }
  type Subscription { userChanged: User! }
  `,
  'name: test\napi: { access: public }\nauth: { roles: { list: [admin, member], default: member } }\n',
);
const model = indexModel(project);

function plan(text: string, principal: Principal = { kind: 'anonymous' }, variables = {}) {
  const document = parse(text);
  const operation = document.definitions.find(
    (node): node is OperationDefinitionNode => node.kind === Kind.OPERATION_DEFINITION,
  ) as OperationDefinitionNode;
  const fragments = new Map(
    document.definitions
      .filter((node): node is FragmentDefinitionNode => node.kind === Kind.FRAGMENT_DEFINITION)
      .map((node) => [node.name.value, node]),
  );
  const planning = {
    model,
    rules: createRules(model, principal),
    selecting: { schema: buildSchema(project.sdl), fragments, variables },
    isCustom: () => false,
    isPlain: () => true,
  };
  return planOperation(
    planning,
    operation.operation,
    planning.selecting.schema.getRootType(operation.operation as never)?.name ?? '',
    operation,
  );
}

const readRoot = (text: string, principal?: Principal, variables?: object) => {
  const root = plan(text, principal, variables).roots[0];
  if (root?.kind !== 'read') throw new TypeError(`the root is ${root?.kind}`);
  return root.plan;
};

describe('a plan', () => {
  it('is data that prints, with a number for each place that takes arguments', () => {
    const { node, calls, pure, marks } = readRoot(
      'query ($n: Int) { users(limit: $n) { id n: name posts { title } } }',
      user(1),
    );
    expect(JSON.parse(JSON.stringify(node))).toMatchObject({
      kind: 'list',
      entity: 'User',
      call: 0,
      selection: {
        entity: 'User',
        row: false,
        fields: [
          { kind: 'column', key: 'id', column: 'id' },
          { kind: 'column', key: 'n', column: 'name' },
          {
            kind: 'many',
            key: 'posts',
            entity: 'Post',
            call: 1,
            link: { kind: 'column', column: 'author_id' },
            selection: { fields: [{ kind: 'column', key: 'title', column: 'title' }] },
          },
        ],
      },
    });
    expect(calls.map(({ type, field }) => `${type}.${field}`)).toEqual([
      'Query.users',
      'User.posts',
    ]);
    expect({ pure, marks }).toEqual({ pure: true, marks: false });
  });

  it('merges fields and fragments, and leaves out what a condition leaves out', () => {
    const { node } = readRoot(
      'query ($no: Boolean!) { user(id: 1) { ...A ... on User { name email @skip(if: $no) } posts { id } } } fragment A on User { id posts { title } }',
      user(1),
      { no: true },
    );
    expect(JSON.parse(JSON.stringify(node)).selection.fields).toMatchObject([
      { key: 'id' },
      { key: 'posts', selection: { fields: [{ key: 'title' }, { key: 'id' }] } },
      { key: 'name' },
    ]);
  });

  it('knows what the caller may not have, and what needs the executor', () => {
    expect(readRoot('{ users { posts { secret } } }', user(1)).pure).toBe(false);
    expect(readRoot('{ users { posts { secret } } }', user(1, 'admin')).pure).toBe(true);
    expect(readRoot('{ users { posts { author { name } } } }', user(1)).marks).toBe(true);
    expect(readRoot('{ users { fullName } }', user(1)).node).toMatchObject({
      selection: { row: true },
    });
    expect(plan('{ posts { id } }').roots[0]).toMatchObject({
      kind: 'refused',
      code: 'UNAUTHENTICATED',
    });
    expect(
      plan('{ __schema { queryType { name } } __typename }').roots.map(({ kind }) => kind),
    ).toEqual(['function', 'typename']);
  });
});

describe('a plan for people', () => {
  const printed = (text: string, principal?: Principal) =>
    printPlan(plan(text, principal)).split('\n');

  it('says where each member of the answer comes from, and what it takes', () => {
    expect(
      printed(
        '{ me: user(id: 1) { n: name __typename posts(limit: 2) { title author { id } } } users(limit: 1) { id fullName } __typename }',
        user(1),
      ),
    ).toEqual([
      'me: get User (id), may be marked',
      '  n: column name',
      '  __typename: typename User',
      '  posts: many Post by author_id (limit)',
      '    title: column title',
      '    author: one User by author_id',
      '      id: column id',
      'users: list User (limit), as a tree',
      '  id: column id',
      '  (the whole row, for functions)',
      '__typename: typename Query',
      '(the executor puts the answer together)',
    ]);
  });

  it('has the parts of connections, and each type that a row may be of', () => {
    expect(
      printed(
        '{ user(id: 1) { pages(first: 2) { edges { cursor node { title } } nodes { id } pageInfo { hasNextPage } totalCount __typename } } }',
        user(1),
      ),
    ).toEqual([
      'user: get User (id)',
      '  pages: connection Post by editor_id (first)',
      '    edges: edges PostEdge',
      '      cursor: cursor',
      '      node: node Post',
      '        title: column title',
      '    nodes: nodes Post',
      '      id: column id',
      '    pageInfo: pageInfo',
      '      hasNextPage: hasNextPage',
      '    totalCount: totalCount',
      '    __typename: typename PostConnection',
    ]);
    expect(printed('{ titled { title ... on Post { about { id } } } }', user(1))).toEqual([
      'titled: abstractList Titled',
      '  of Post',
      '    title: column title',
      '    about: abstract about_id',
      '      of Post',
      '        id: column id',
      '      of Page',
      '        id: column id',
      '  of Page',
      '    title: column title',
    ]);
  });

  it('tells what is for owners alone, and what is refused', () => {
    expect(printed('{ users { email posts { secret } } }', user(1))).toEqual([
      'users: list User, as a tree, may be marked',
      '  email: column email for its id',
      '  posts: many Post by author_id',
      '    secret: refused FORBIDDEN',
      '(the executor puts the answer together)',
    ]);
    expect(printed('{ posts { id } __schema { queryType { name } } }')).toEqual([
      'posts: refused UNAUTHENTICATED',
      '__schema: function',
      '(the executor puts the answer together)',
    ]);
  });

  it('has what a mutation answers with, and the row of an event', () => {
    expect(
      printed(
        'mutation { createPost(title: "a", authorId: 1) { ok post { title } } deletePost(id: 1) }',
        user(1),
      ),
    ).toEqual([
      'createPost: create PostPayload, answered by the insert',
      '  ok: ok',
      '  post: get Post',
      '    title: column title',
      'deletePost: remove Boolean',
      '  answer: ok',
    ]);
    expect(printed('subscription { userChanged { name } }', user(1))).toEqual([
      'userChanged: get User',
      '  name: column name',
      '(the executor puts the answer together)',
    ]);
  });
});
