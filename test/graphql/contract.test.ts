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

it.each(Object.entries(LINES))('has a test of: %s', (_line, place) => {
  const [file = '', title] = [place.split(': ')[0], place.slice(place.indexOf(': ') + 2)];
  expect(testTitles(`test/${file}`).map((test) => test.title)).toContain(title);
});
