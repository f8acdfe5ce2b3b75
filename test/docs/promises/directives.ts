import type { Promised } from './promised.ts';

const directive = (title: string) => `test/docs/directives.test.ts: ${title}` as const;

const TWELVE = 'schema/docs/directives.md#the-directives';

/** What each directive promises. */
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
    row: '@version',
    page: 'site/pages/how-to/writes-that-compete.md#the-version-that-was-read',
    shows: 'revision: Int! @version',
    tests: [
      directive('@version counts the updates of a row, and refuses those of an older version'),
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
    row: '@search',
    page: 'schema/docs/directives.md#search',
    shows: '@search(fields: ["title", "body"], language: "english")',
    tests: [
      'test/graphql/search.test.ts: finds only what the caller may read, and ranks without the other rows',
      'test/graphql/search.test.ts: shows rank and highlights only in a search',
      'test/graphql/search.test.ts: keeps the index on every write, in the transaction',
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
