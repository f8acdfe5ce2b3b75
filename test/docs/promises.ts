/** One row of what is promised. */
export interface Promised {
  readonly row: string;
  /** The page and the heading with the example. */
  readonly page: `${string}.md#${string}`;
  /** What the example shows, to the letter. */
  readonly shows: string;
  /** Tests by file and title; each runs on SQLite and on PostgreSQL. */
  readonly tests: readonly `${string}.ts: ${string}`[];
}

const inferred = (title: string) => `test/docs/inferred.test.ts: ${title}` as const;
const directive = (title: string) => `test/docs/directives.test.ts: ${title}` as const;

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

const TWELVE = 'schema/docs/directives.md#the-directives';

/** One for each. */
export const DIRECTIVES: readonly Promised[] = [
  {
    row: '@entity',
    page: TWELVE,
    shows: '@entity(plural: "people", table: "staff", softDelete: true)',
    tests: [
      directive(
        '@entity names the table and the plural, leaves a type without a table, keeps times, and marks what is removed',
      ),
    ],
  },
  {
    row: '@table',
    page: 'schema/docs/adopting.md#serving-a-database-that-others-made',
    shows: '@table(name: "region", key: ["country", "code"])',
    tests: [
      'test/adopted/reads.test.ts: answers by id, through relations of quoted names, in two schemas',
    ],
  },
  {
    row: '@column',
    page: 'schema/docs/adopting.md#serving-a-database-that-others-made',
    shows: '@column(name: "UnitPrice", type: "numeric(10,2)")',
    tests: [
      'test/adopted/reads.test.ts: answers by id, through relations of quoted names, in two schemas',
    ],
  },
  {
    row: '@computed',
    page: 'runtime/core/graphql/docs/own-code.md#code-of-your-own',
    shows: 'fullName: String! @computed',
    tests: [
      directive('@computed has no column and is answered by the function, from the whole row'),
    ],
  },
  {
    row: '@relation',
    page: TWELVE,
    shows: '@relation(column: "boss_key", onDelete: SET_NULL)',
    tests: [
      directive(
        '@relation says the other end, the column, the join table, and what happens to the row when the other goes',
      ),
    ],
  },
  {
    row: '@error',
    page: 'runtime/core/graphql/docs/result-unions.md#result-unions',
    shows: 'type EmailTaken @error(code: "CONFLICT", field: "email")',
    tests: [
      'test/graphql/result-unions.test.ts: answers with the member that takes the error by code and field, filled as it declares',
    ],
  },
  {
    row: '@crud',
    page: 'schema/docs/directives.md#crud',
    shows: 'type Post @crud(operations: [GET, LIST])',
    tests: [
      'test/crud/served.test.ts: serves what the directive of a type says, and nothing else of it',
    ],
  },
  {
    row: '@count',
    page: 'runtime/core/graphql/docs/aggregates.md#counts-and-existence',
    shows: 'likes: Int! @count(relation: "likedBy")',
    tests: ['test/graphql/aggregates.test.ts: are in the one statement'],
  },
  {
    row: '@exists',
    page: 'runtime/core/graphql/docs/aggregates.md#counts-and-existence',
    shows: '@exists(relation: "likedBy", where: { id: CALLER })',
    tests: [
      'test/graphql/aggregates.test.ts: obey the rules of the related type, and CALLER matches nothing for others',
    ],
  },
  {
    row: '@unique',
    page: TWELVE,
    shows: 'email: String! @unique',
    tests: [directive('@unique refuses a second row with the same value, and says which field')],
  },
  {
    row: '@index',
    page: 'schema/docs/directives.md#unique-and-index',
    shows: '@index(fields: ["row", "number"], unique: true)',
    tests: [
      directive(
        '@index makes an index over its fields in their order, and one that is unique refuses a pair',
      ),
    ],
  },
  {
    row: '@default',
    page: TWELVE,
    shows: '@default(value: LOW)',
    tests: [
      directive(
        '@default fills what nobody gave: values, the time, a UUID, the next number; and not what is null',
      ),
    ],
  },
  {
    row: '@updatedAt',
    page: TWELVE,
    shows: 'touched: DateTime! @updatedAt',
    tests: [
      directive('@updatedAt holds the time of the last change, whatever the field is called'),
    ],
  },
  {
    row: '@constraint',
    page: 'schema/docs/directives.md#constraint',
    shows: '@constraint(pattern:',
    tests: [
      directive(
        '@constraint is checked before anything is written, and again by the database where it can',
      ),
    ],
  },
  {
    row: '@auth',
    page: 'runtime/core/graphql/docs/access.md#access',
    shows: '@auth(allow:',
    tests: [
      directive('@auth lets in who is allowed, on every way to the row, for each kind of rule'),
      'test/graphql/access.test.ts: let a caller tell nothing from rows it may not see: every answer is what it would be without them',
    ],
  },
  {
    row: '@list',
    page: TWELVE,
    shows: '@list(orderBy: ["due DESC"], default: 20)',
    tests: [
      directive(
        '@list says the order, the page and the fields to filter by, when its arguments do not',
      ),
    ],
  },
  {
    row: '@resolve',
    page: 'schema/docs/directives.md#resolve',
    shows: '@resolve(as: GET, by: ["title"])',
    tests: [directive('@resolve decides what a root field does whose name leaves it open')],
  },
  {
    row: '@renamed',
    page: 'schema/docs/directives.md#renamed',
    shows: '@renamed(from: "title")',
    tests: [
      'test/generator/migrations/evolution.test.ts: renames a field and a type with @renamed, and keeps the rows',
      'test/generator/migrations/evolution.test.ts: renames a value of an enum in the rows',
    ],
  },
];

const rest = <File extends string>(file: File, title: string) =>
  `test/rest/${file}.test.ts: ${title}` as const;

const PAGE = 'runtime/core/rest/docs/rest.md';
const ERRORS = 'runtime/core/rest/docs/errors.md';

/** What a REST module promises, call by call and status by status. */
export const REST: readonly Promised[] = [
  {
    row: 'a module mirrors what the schema exposes, and nothing else',
    page: `${PAGE}#rest`,
    shows: 'deletePost(id: ID!): Boolean!',
    tests: [
      rest('reads', 'has no call that the schema does not have'),
      rest('shapes', 'offers no list that would show more than the schema does'),
      rest(
        'failing',
        'of a root field have no module of their own: what REST offers is what the contract names',
      ),
    ],
  },
  {
    row: 'GET /api/posts?page&limit',
    page: `${PAGE}#lists`,
    shows: 'page=1&limit=20',
    tests: [
      rest('reads', 'answers with a page and how many there are'),
      rest('reads', 'has 20 in a page, and none behind the last'),
      rest('reads', 'says that an empty table has no pages'),
    ],
  },
  {
    row: 'sort and order',
    page: `${PAGE}#lists`,
    shows: 'sort=title&order=desc',
    tests: [
      rest('reads', 'sorts by a field in both directions'),
      rest('reads', 'names the fields that it can sort by'),
    ],
  },
  {
    row: 'limit up to the cap of the schema',
    page: `${PAGE}#lists`,
    shows: 'limit=20',
    tests: [
      rest('shapes', 'holds to what @list says of size, order and filters'),
      rest('reads', 'refuses %s'),
    ],
  },
  {
    row: 'filters with the words of GraphQL',
    page: `${PAGE}#lists`,
    shows: 'title_contains=Eng',
    tests: [
      rest('reads', 'filters with the words of GraphQL'),
      rest('reads', 'counts only what the filter leaves'),
      rest(
        'differential',
        'are the same for any schema, filter, order, page, selection and embedding, seed %i',
      ),
    ],
  },
  {
    row: 'include embeds relations in the same statement',
    page: `${PAGE}#lists`,
    shows: 'include=author',
    tests: [
      rest('reads', 'embeds relations, and relations of those'),
      rest('reads', 'reads in one statement, whatever is embedded'),
      rest(
        'failing',
        'that answer a relation with a connection are embedded as a list, and listed',
      ),
    ],
  },
  {
    row: 'fields',
    page: `${PAGE}#one-object`,
    shows: 'fields=title,author.name',
    tests: [rest('reads', 'shows only the fields that are asked for, and the id')],
  },
  {
    row: 'GET /api/posts/:id',
    page: `${PAGE}#one-object`,
    shows: '/api/posts/1?',
    tests: [
      rest('reads', 'answers with the object and its ETag'),
      rest('reads', 'embeds and selects as a list does'),
      rest('reads', 'answers HEAD without a body'),
    ],
  },
  {
    row: '404 Post not found',
    page: `${PAGE}#what-goes-wrong`,
    shows: 'Post not found',
    tests: [rest('reads', 'says which kind of thing is not there')],
  },
  {
    row: 'POST /api/posts: 201 and Location',
    page: `${PAGE}#create`,
    shows: '"authorId":"1"',
    tests: [
      rest('writes', 'answers 201 with the object and where it is'),
      rest('writes', 'embeds in the answer what include names'),
    ],
  },
  {
    row: 'PATCH and PUT: absent is unchanged, null is null',
    page: `${PAGE}#change-and-delete`,
    shows: '-X PATCH',
    tests: [
      rest('writes', 'leaves what is absent and empties what is null'),
      rest('writes', 'takes back the id of the object, and no other'),
    ],
  },
  {
    row: 'DELETE: 204',
    page: `${PAGE}#change-and-delete`,
    shows: '-X DELETE',
    tests: [rest('writes', 'answers 204, and 404 the second time')],
  },
  {
    row: 'the same actions, validation, rules and events as GraphQL',
    page: `${PAGE}#what-goes-wrong`,
    shows: 'title is required',
    tests: [
      rest('writes', 'tells of its changes like a mutation'),
      rest('functions', 'are never bypassed by a call that they answer'),
      rest('rules', 'say the same as GraphQL does to the same caller'),
      rest('writes', 'refuses what is wrong'),
    ],
  },
  {
    row: 'names of the SDL, ids as text, paths in kebab-case',
    page: `${PAGE}#one-object`,
    shows: '"id": "1"',
    tests: [
      rest('reads', 'shows what the schema shows, with ids as text and the keys of its relations'),
      rest('shapes', 'goes by the plural that the schema gives, and through renamed roots'),
      rest('shapes', 'has UUIDs for keys'),
      rest('shapes', 'has global ids where the schema has them, and gets by node'),
    ],
  },
  {
    row: 'ETag and If-Match, 412',
    page: `${PAGE}#change-and-delete`,
    shows: 'If-Match',
    tests: [
      rest('writes', 'does so only to the object that the client saw'),
      rest('writes', 'lets one of many win that saw the same object'),
      rest('writes', 'looks at If-Match'),
      rest('reads', 'saves the body of what the client has already'),
    ],
  },
  {
    row: 'Cache-Control: private',
    page: `${PAGE}#one-object`,
    shows: '/api/posts/1',
    tests: [
      rest('reads', 'answers with a page and how many there are'),
      rest('server', "lets no cache keep for one what is another's"),
    ],
  },
  {
    row: '400: page, limit, order, id, required',
    page: `${PAGE}#what-goes-wrong`,
    shows: "Invalid sort order. Use 'asc' or 'desc'",
    tests: [
      rest('reads', 'refuses %s'),
      rest('reads', 'refuses the id %s'),
      rest('writes', 'refuses %j'),
    ],
  },
  {
    row: '401 and 403',
    page: `${ERRORS}#the-caller`,
    shows: 'Unauthorized',
    tests: [
      rest('rules', 'ask for somebody who is signed in'),
      rest(
        'rules',
        "leave out fields that are not the caller's, and refuse them when they are named",
      ),
    ],
  },
  {
    row: '409 for a value that is taken, or a row that is in use',
    page: `${PAGE}#what-goes-wrong`,
    shows: 'email already exists',
    tests: [
      rest('writes', 'says 409 for what is there already, and 422 for a relation to nothing'),
      rest('writes', 'keeps what something else needs'),
    ],
  },
  {
    row: '413 and 415',
    page: `${ERRORS}#the-request`,
    shows: 'Request body too large',
    tests: [
      rest('writes', 'bounds the size and the depth of a body'),
      rest('writes', 'takes JSON and nothing else'),
    ],
  },
  {
    row: '422 for a relation that does not exist',
    page: `${PAGE}#what-goes-wrong`,
    shows: 'there is no such Author',
    tests: [
      rest('writes', 'says 409 for what is there already, and 422 for a relation to nothing'),
    ],
  },
  {
    row: '429',
    page: `${ERRORS}#the-stored-rows`,
    shows: '30/1m/user',
    tests: [rest('server', 'counts calls where the manifest says so')],
  },
  {
    row: 'a service key sees what rules allow to API_KEY and its scopes name',
    page: `${ERRORS}#the-caller`,
    shows: 'X-API-Key: $API_KEY',
    tests: [
      rest('rules', 'give a key what it is allowed and its scopes name'),
      rest('server', 'takes an API key, as far as its scopes go'),
    ],
  },
  {
    row: 'never shadows the fixed paths',
    page: `${ERRORS}#at-generation`,
    shows: 'apps: [App!]!',
    tests: [rest('server', "leaves paths that are no module's to others")],
  },
  {
    row: 'openapi.json, tested against the router both ways',
    page: `${PAGE}#rest`,
    shows: 'api: { rest: true }',
    tests: [
      rest('server', 'answers every call of its document, and says 404 or 405 to any other'),
      rest('server', 'serves its document, with an ETag'),
    ],
  },
  {
    row: 'a reference page without an outside request',
    page: `${PAGE}#rest`,
    shows: 'api: { rest: true }',
    tests: [rest('server', 'has a page for people, without a script or a request to elsewhere')],
  },
  {
    row: 'a function that fails loses no other row',
    page: `${PAGE}#one-object`,
    shows: 'author.name',
    tests: [
      rest(
        'failing',
        'take their own field with them and nothing else, in a list, in an object and in what is embedded',
      ),
      rest('failing', 'do not make a write look undone that is done'),
    ],
  },
];
