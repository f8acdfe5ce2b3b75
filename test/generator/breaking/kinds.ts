/** A change of one kind, with a document that uses what changes and one that does not. */
export interface Kind {
  readonly code: string;
  readonly coordinate: string;
  readonly before: string;
  readonly after: string;
  readonly uses: string;
  readonly leaves: string;
}

const LEAVES = 'query Leaves { other }';
const query = (fields: string, rest = '') => `type Query { other: Int ${fields} } ${rest}`;

interface Short {
  readonly coordinate: string;
  readonly before: readonly [fields: string, rest?: string];
  readonly after: readonly [fields: string, rest?: string];
  readonly uses: string;
  readonly leaves?: string;
}

const kind = (code: string, { coordinate, before, after, uses, leaves = LEAVES }: Short): Kind => ({
  code,
  coordinate,
  before: query(...before),
  after: query(...after),
  uses: `query Uses${uses}`,
  leaves,
});

const INPUT = 'a(i: I): Int';
const directive = (text: string) => ['', `directive @d${text}`] as const;

/** Every kind of change that graphql calls breaking or dangerous. */
export const KINDS: readonly Kind[] = [
  kind('TYPE_REMOVED', {
    coordinate: 'T',
    before: ['t: T', 'type T { x: Int }'],
    after: [''],
    uses: ' { t { x } }',
  }),
  kind('TYPE_CHANGED_KIND', {
    coordinate: 'T',
    before: ['t: T', 'type T { x: Int }'],
    after: ['t: T', 'interface T { x: Int }'],
    uses: ' { t { x } }',
  }),
  kind('TYPE_REMOVED_FROM_UNION', {
    coordinate: 'U',
    before: ['u: U a: A', 'union U = A | B type A { x: Int } type B { y: Int }'],
    after: ['u: U a: A', 'union U = B type A { x: Int } type B { y: Int }'],
    uses: ' { u { ... on A { x } } }',
    leaves: 'query Leaves { u { ... on B { y } } a { x } }',
  }),
  kind('VALUE_REMOVED_FROM_ENUM', {
    coordinate: 'E.Y',
    before: ['e(v: E): E', 'enum E { X Y }'],
    after: ['e(v: E): E', 'enum E { X }'],
    uses: ' { e(v: Y) }',
    leaves: 'query Leaves { e(v: X) }',
  }),
  kind('REQUIRED_INPUT_FIELD_ADDED', {
    coordinate: 'I.y',
    before: [INPUT, 'input I { x: Int }'],
    after: [INPUT, 'input I { x: Int y: Int! }'],
    uses: '($i: I) { a(i: $i) }',
    leaves: 'query Leaves { a }',
  }),
  kind('IMPLEMENTED_INTERFACE_REMOVED', {
    coordinate: 'T',
    before: ['n: N t: T', 'interface N { x: Int } type T implements N { x: Int }'],
    after: ['n: N t: T', 'interface N { x: Int } type T { x: Int }'],
    uses: ' { n { ... on T { x } } }',
    leaves: 'query Leaves { t { x } }',
  }),
  kind('FIELD_REMOVED', {
    coordinate: 'T.y',
    before: ['t: T', 'type T { x: Int y: Int }'],
    after: ['t: T', 'type T { x: Int }'],
    uses: ' { t { y } }',
    leaves: 'query Leaves { t { x } }',
  }),
  kind('FIELD_CHANGED_KIND', {
    coordinate: 'T.y',
    before: ['t: T', 'type T { x: Int y: Int! }'],
    after: ['t: T', 'type T { x: Int y: Int }'],
    uses: ' { t { y } }',
    leaves: 'query Leaves { t { x } }',
  }),
  kind('REQUIRED_ARG_ADDED', {
    coordinate: 'Query.a(y:)',
    before: ['a: Int'],
    after: ['a(y: Int!): Int'],
    uses: ' { a }',
  }),
  kind('ARG_REMOVED', {
    coordinate: 'Query.a(y:)',
    before: ['a(y: Int): Int'],
    after: ['a: Int'],
    uses: '($y: Int) { a(y: $y) }',
    leaves: 'query Leaves { a }',
  }),
  kind('ARG_CHANGED_KIND', {
    coordinate: 'Query.a(y:)',
    before: ['a(y: Int): Int'],
    after: ['a(y: String): Int'],
    uses: ' { a(y: 1) }',
    leaves: 'query Leaves { a }',
  }),
  kind('DIRECTIVE_REMOVED', {
    coordinate: '@d',
    before: directive(' on FIELD'),
    after: [''],
    uses: ' { other @d }',
  }),
  kind('DIRECTIVE_ARG_REMOVED', {
    coordinate: '@d(x:)',
    before: directive('(x: Int) on FIELD'),
    after: directive(' on FIELD'),
    uses: ' { other @d(x: 1) }',
    leaves: 'query Leaves { other @d }',
  }),
  kind('REQUIRED_DIRECTIVE_ARG_ADDED', {
    coordinate: '@d(x:)',
    before: directive(' on FIELD'),
    after: directive('(x: Int!) on FIELD'),
    uses: ' { other @d }',
  }),
  kind('DIRECTIVE_REPEATABLE_REMOVED', {
    coordinate: '@d',
    before: directive(' repeatable on FIELD'),
    after: directive(' on FIELD'),
    uses: ' { other @d @d }',
  }),
  kind('DIRECTIVE_LOCATION_REMOVED', {
    coordinate: '@d',
    before: directive(' on FIELD | QUERY'),
    after: directive(' on QUERY'),
    uses: ' { other @d }',
  }),
  kind('VALUE_ADDED_TO_ENUM', {
    coordinate: 'E.Y',
    before: ['e: E a(e: E): Int', 'enum E { X }'],
    after: ['e: E a(e: E): Int', 'enum E { X Y }'],
    uses: ' { e }',
    leaves: 'query Leaves($e: E) { a(e: $e) }',
  }),
  kind('TYPE_ADDED_TO_UNION', {
    coordinate: 'U',
    before: ['u: U b: B', 'union U = A type A { x: Int } type B { y: Int }'],
    after: ['u: U b: B', 'union U = A | B type A { x: Int } type B { y: Int }'],
    uses: ' { u { ... on A { x } } }',
    leaves: 'query Leaves { b { y } }',
  }),
  kind('OPTIONAL_INPUT_FIELD_ADDED', {
    coordinate: 'I.y',
    before: [INPUT, 'input I { x: Int }'],
    after: [INPUT, 'input I { x: Int y: Int }'],
    uses: ' { a(i: { x: 1 }) }',
    leaves: 'query Leaves { a }',
  }),
  kind('OPTIONAL_ARG_ADDED', {
    coordinate: 'Query.a(y:)',
    before: ['a: Int'],
    after: ['a(y: Int): Int'],
    uses: ' { a }',
  }),
  kind('IMPLEMENTED_INTERFACE_ADDED', {
    coordinate: 'T',
    before: [
      'n: N t: T',
      'interface N { x: Int } type T { x: Int } type S implements N { x: Int }',
    ],
    after: [
      'n: N t: T',
      'interface N { x: Int } type T implements N { x: Int } type S implements N { x: Int }',
    ],
    uses: ' { n { x } }',
    leaves: 'query Leaves { t { x } }',
  }),
  kind('ARG_DEFAULT_VALUE_CHANGE', {
    coordinate: 'Query.a(y:)',
    before: ['a(y: Int = 1): Int'],
    after: ['a(y: Int = 2): Int'],
    uses: ' { a }',
  }),
  kind('INPUT_FIELD_DEFAULT_VALUE_CHANGE', {
    coordinate: 'I.x',
    before: [INPUT, 'input I { x: Int = 1 y: Int }'],
    after: [INPUT, 'input I { x: Int = 2 y: Int }'],
    uses: ' { a(i: { y: 1 }) }',
    leaves: 'query Leaves { a }',
  }),
];
