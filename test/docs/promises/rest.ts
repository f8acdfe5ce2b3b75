import type { Promised } from './promised.ts';

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
