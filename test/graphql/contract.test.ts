import { expect, it } from 'vitest';
import { testTitles } from '../test-titles.ts';

/** What part two promises of answers and of shapes that are inferred, and the test that shows it. */
const LINES: Readonly<Record<string, `${string}.ts: ${string}`>> = {
  'more rows asked than the cap':
    'graphql/lists.test.ts: are paged by number, and more rows than there ever are in a page are refused',
  'transport errors':
    'graphql/errors.test.ts: is a list of errors with a code, in every media type',
  'a resolver returns what its type is not':
    'graphql/errors.test.ts: is a bug of the server: masked for the caller, and logged with its coordinate',
  'BAD_USER_INPUT is only ever the caller’s':
    "graphql/errors.test.ts: leaves the caller's own mistakes the caller's",
  'a GraphQLError of own code':
    'graphql/errors.test.ts: reaches the caller with message and extensions when it has a code, and is masked without',
  '__resolveType and __isTypeOf':
    'graphql/errors.test.ts: of the project are asked, late ones too; then __typename of the value',
  'a subscription whose caller changed':
    'graphql/changed-caller.test.ts: gets no event from the change on, and ends',
  'and without events': 'graphql/changed-caller.test.ts: ends within 30 s when its caller changed',
  'a subscriber that does not read':
    'graphql/slow-reader.test.ts: is waited for when it is slow but reads',
  'pages over a field that may be null':
    'graphql/nullable-pages.test.ts: have each row once and leave none out, of any scalar, in both directions',
  'BigInt and Decimal':
    'graphql/nulls.test.ts: are text on the wire and in own code, exact or refused',
  'null in a filter':
    'graphql/nulls.test.ts: means that there is no value; left out it means nothing',
  'a row without a value, compared':
    'graphql/nulls.test.ts: compares as false, and its opposite as true',
  'orderBy as the caller wrote it':
    'graphql/nulls.test.ts: is in the order that the caller wrote, in a literal and in variables',
  'server.cors: ["*"]': 'server/cors.test.ts: is every origin, without cookies',
  'changes by cookie stay refused':
    'server/cors.test.ts: keeps refusing what a cookie authenticates',
  'a field whose type is the query root':
    'graphql/root-again.test.ts: is the root again: below itself, in a payload after the commit, and in rows',
  'result unions':
    'graphql/result-unions.test.ts: answers with the member that takes the error by code and field, filled as it declares',
  'of update, delete, upsert, many and interfaces':
    'graphql/result-unions.test.ts: takes errors of update, delete, upsert and many, and by an interface',
  'own functions return a member, or throw':
    'graphql/result-unions.test.ts: takes what a function throws, undoes all of it, and leaves the other errors',
  'me, viewer, currentUser':
    'graphql/caller.test.ts: is their own row in one statement, under the rules',
  nobody:
    'graphql/caller.test.ts: is null for nobody, and UNAUTHENTICATED where null is not allowed',
  'extra members of connections and edges':
    'graphql/own-members.test.ts: of a connection: lists by any name are served, and what is not written fails at its own path',
  'extra members of payloads':
    'graphql/own-members.test.ts: of a payload get what was written, and not what the caller may not read',
  'stored fields with arguments':
    'graphql/own-members.test.ts: a stored field with arguments is its value, or what a function makes of it, in REST as well',
  'acceptance 9, BlogPostRow':
    'graphql/row-values.test.ts: is what ctx.db, ctx.data and resolvers get, for every scalar, by type check',
  'acceptance 11, clients':
    'clients/clients.test.ts: relay: its compiler takes the schema, and what it made pages, refetches and updates',
};

/** The lines under Acceptance; the figures of line 12 are of benchmarks. */
const ACCEPTANCE: Readonly<Record<string, readonly `${string}.ts: ${string}`[]>> = {
  '1, hostile operations': [
    'graphql/hostile-load.test.ts: are each answered or refused, others are answered meanwhile, and nothing goes on',
    'graphql/long-statements.test.ts: of %s ends with its time',
  ],
  '2, each line of §2': [
    'graphql/changed-caller.test.ts: gets no event from the change on, and ends',
  ],
  '3, rules against an oracle': [
    'rules/random.test.ts: show, count, sort and find what an oracle finds by hand, seed %i',
    'rules/random-writes.test.ts: change what an oracle changes by hand, seed %i',
    'rules/dense.test.ts: shows the rows that an oracle finds by hand, for each word behind each relation, seed %i',
  ],
  '4, filters': [
    "filters/random.test.ts: find what an oracle finds by hand on ${databases.join(' and ')}, seeds ${SEED} to ${SEED + SEEDS - 1}",
    'filters/findings.test.ts: %s of a field is a finding that names %s',
  ],
  '5, api.crud': [
    'crud/answers.test.ts: give the same answers to ${OPERATIONS} operations: Acceptance 5',
    'crud/eject.test.ts: makes the same API after eject crud, and when all are moved one by one in any order',
    'crud/project.test.ts: type-checks, is ejected by the command line, and serves the same API: Acceptance 5',
  ],
  '6, aggregates and groups': [
    'aggregates/random.test.ts: are what an oracle counts by hand, in one statement for each root field, seed %i',
    'leak/random-tenants.test.ts: two organizations are answered as a server with only that one, seed %i',
  ],
  '7, search': [
    'graphql/search.test.ts: takes %j as text',
    'graphql/search.test.ts: takes 10,000 words',
    'graphql/search.test.ts: escapes what the text has, so that a highlight can be inserted as it is',
    'graphql/search.test.ts: keeps the index on every write, in the transaction',
    'graphql/search-random.test.ts: find, count and rank the rows that an oracle finds, seed ${SEED}',
  ],
  '8, pages over nullable fields': [
    'graphql/nullable-pages.test.ts: acceptance 8: show every row that stays once, and no row twice, while others come and go',
  ],
  '9, rows': [
    'graphql/row-values.test.ts: is what ctx.db, ctx.data and resolvers get, for every scalar, by type check',
  ],
  '10, hooks, traces and metrics': [
    'graphql/hooks.test.ts: run once each, in the order of the plugins, and in reverse afterwards',
    'traces/tree.test.ts: are a tree: request, operation, function and statement, below the caller of traceparent',
    'metrics/page.test.ts: has every family of the table, with its labels and its type',
    'metrics/page.test.ts: has 201 names after 10,000 that clients invented, and that of each trusted document',
  ],
  '11, clients': [
    'clients/clients.test.ts: relay: its compiler takes the schema, and what it made pages, refetches and updates',
    'clients/clients.test.ts: typed documents in TanStack Query, Apollo Client and urql, as the page shows them',
  ],
  'the conformance corpus': [
    'graphql/conformance.test.ts: answers what graphql-js answers, data to the letter and errors at their places: ${SCHEMAS} schemas',
  ],
};

const PLACES = [
  ...Object.entries(LINES),
  ...Object.entries(ACCEPTANCE).flatMap(([line, places]) =>
    places.map((place) => [`acceptance ${line}`, place] as const),
  ),
];

it.each(PLACES)('has a test of: %s', (_line, place) => {
  const [file = '', title] = [place.split(': ')[0], place.slice(place.indexOf(': ') + 2)];
  expect(testTitles(`test/${file}`).map((test) => test.title)).toContain(title);
});
