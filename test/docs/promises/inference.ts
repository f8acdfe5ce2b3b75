import type { Promised } from './promised.ts';

const inferred = (title: string) => `test/docs/inferred.test.ts: ${title}` as const;

/** The table of what is inferred without a directive, row by row. */
export const INFERENCE: readonly Promised[] = [
  {
    row: 'object type with id: ID!',
    page: 'schema/docs/inference.md#entities',
    shows: 'create table blog_posts',
    tests: [
      inferred(
        'an object type with an id is a table in snake_case, and roots, connections, edges, PageInfo and payloads are none',
      ),
    ],
  },
  {
    row: 'user(id: ID!): User',
    page: 'schema/docs/operations.md#one-row',
    shows: 'user(id: 1)',
    tests: [inferred('a single result by id is got, and is null when there is none')],
  },
  {
    row: 'userByEmail(email: String!): User',
    page: 'schema/docs/operations.md#one-row',
    shows: 'userByEmail(email:',
    tests: [
      inferred(
        'a single result whose arguments are fields is a lookup, with a hint where the field is not unique',
      ),
      'test/graphql/lists.test.ts: may be one row found by a field that is not unique: the first',
    ],
  },
  {
    row: 'users: [User!]!',
    page: 'schema/docs/operations.md#lists',
    shows: 'users(limit: 1)',
    tests: [
      inferred(
        'a list is all of them by id, filtered by arguments that are fields, paged and capped',
      ),
      'test/graphql/lists.test.ts: are paged by number, and more rows than there ever are in a page are refused',
    ],
  },
  {
    row: 'users(where: UserFilter, orderBy: UserOrder, …)',
    page: 'runtime/core/graphql/docs/queries.md#filters',
    shows: 'some: { views: { isNull: true } }',
    tests: [
      inferred('a filter and an order are what their inputs declare, through relations as well'),
      'test/graphql/lists.test.ts: are ordered as the schema declares it, with nothing last',
    ],
  },
  {
    row: 'a field returning UserConnection',
    page: 'schema/docs/operations.md#connections',
    shows: 'pageInfo { hasNextPage endCursor } totalCount',
    tests: [
      inferred('a connection is walked by cursors, and counts when it says so'),
      'test/graphql/lists.test.ts: are walked by cursors in any order, both ways, and every row is met once',
    ],
  },
  {
    row: 'createUser, updateUser, deleteUser',
    page: 'schema/docs/operations.md#create-update-delete',
    shows: 'updateUser(id: 2, input: { name: "Bo" })',
    tests: [
      inferred(
        'create, update and delete do so in one transaction, absent is not null, and each answers as it is declared',
      ),
      'test/graphql/writes.test.ts: create what an input nests, in one transaction',
    ],
  },
  {
    row: 'author: User! and posts: [Post!]!',
    page: 'schema/docs/inference.md#to-one-and-to-many',
    shows: 'author_id integer not null references users (id)',
    tests: [inferred('an object and a list of each other are one foreign key')],
  },
  {
    row: 'lists on both sides',
    page: 'schema/docs/inference.md#lists-on-both-sides',
    shows: 'create table post_tags',
    tests: [inferred('lists on both sides are a join table')],
  },
  {
    row: 'two candidates for an inverse',
    page: 'schema/docs/inference.md#two-candidates-for-an-inverse',
    shows: 'author: User editor: User',
    tests: [
      inferred(
        'two candidates for an inverse are an error whose fix can be pasted, and with it each relation has its own key',
      ),
    ],
  },
  {
    row: 'list of scalars, object without id',
    page: 'schema/docs/inference.md#values-that-are-not-rows',
    shows: 'labels json_text not null',
    tests: [inferred('lists of scalars and objects without an id are JSON columns')],
  },
  {
    row: 'enum',
    page: 'schema/docs/inference.md#values-that-are-not-rows',
    shows: "check (status in ('DRAFT', 'LIVE'))",
    tests: [inferred('an enum is text with a check')],
  },
  {
    row: 'custom scalar',
    page: 'runtime/core/graphql/docs/own-code.md#scalars',
    shows: 'Money',
    tests: [
      inferred('a scalar of the user is mapped, and one that is not is an error that names it'),
      "test/rest/shapes.test.ts: serves scalars of the user's own through their functions",
    ],
  },
  {
    row: 'createdAt, updatedAt: DateTime',
    page: 'schema/docs/inference.md#values-that-are-not-rows',
    shows: 'updated_at text not null',
    tests: [inferred('createdAt and updatedAt are kept by the server')],
  },
  {
    row: 'Subscription.userCreated / userUpdated / userDeleted / userChanged(id)',
    page: 'runtime/core/graphql/docs/subscriptions.md#over-server-sent-events',
    shows: 'noteChanged(id: 2)',
    tests: [
      'test/graphql/subscriptions.test.ts: tell of what mutations did, with whatever is selected',
    ],
  },
  {
    row: 'anything else',
    page: 'schema/docs/operations.md#everything-else',
    shows: 'NOT_IMPLEMENTED',
    tests: [inferred('anything else is a stub that says what is not written, by its coordinate')],
  },
  {
    row: 'integer keys as strings, ids: uuid',
    page: 'schema/docs/inference.md#entities',
    shows: 'database: { ids: uuid }',
    tests: [
      inferred(
        'keys are whole numbers in the database and text on the wire, or UUIDs of version 7',
      ),
      'test/graphql/types.test.ts: are made by the server, in the order of time',
    ],
  },
  {
    row: 'input is validated before any resolver runs',
    page: 'schema/docs/directives.md#constraint',
    shows: 'slug must match',
    tests: [
      inferred(
        'an input is checked before any function of the user runs and before anything is asked of the database',
      ),
    ],
  },
  {
    row: 'a nested list pages by its own arguments',
    page: 'schema/docs/operations.md#lists',
    shows: 'posts(limit: 1, offset: 1)',
    tests: [inferred('a nested list pages by its own arguments inside the one statement')],
  },
  {
    row: 'an input sets relations by key, connect, disconnect and create',
    page: 'runtime/core/graphql/docs/mutations.md#create-with-related-rows',
    shows: 'connect',
    tests: [
      inferred(
        'an input sets relations by key, by connecting, disconnecting and creating, as it declares',
      ),
      'test/graphql/writes.test.ts: set relations by key, by connecting and by creating',
    ],
  },
  {
    row: 'an interface or union of entities, as a field',
    page: 'schema/docs/inference.md#interfaces-and-unions',
    shows: 'target_type text check',
    tests: [
      inferred(
        'an interface or union of entities is a pair of columns in a field, and one statement in a list',
      ),
    ],
  },
  {
    row: 'an interface or union of entities, as a list',
    page: 'schema/docs/operations.md#interfaces-unions-and-node',
    shows: 'search {',
    tests: [
      inferred(
        'an interface or union of entities is a pair of columns in a field, and one statement in a list',
      ),
    ],
  },
  {
    row: 'node(id: ID!): Node',
    page: 'schema/docs/operations.md#interfaces-unions-and-node',
    shows: 'node(id: "User:1")',
    tests: [inferred('node finds any entity by its global id')],
  },
  {
    row: 'a known scalar is served as the schema declares it',
    page: 'schema/docs/inference.md#values-that-are-not-rows',
    shows: 'scalar DateTime',
    tests: [
      inferred('a known scalar is stored as what it is, and served as the schema declares it'),
      'test/graphql/types.test.ts: come back as they were given, by text and through functions alike',
    ],
  },
];
