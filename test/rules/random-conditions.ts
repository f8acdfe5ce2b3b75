import type { Principal } from '../../runtime/core/context/request-context.ts';
import type { Random } from '../graphql/random-schema.ts';

/** A condition as a schema would have it, with `CALLER` and claims as objects of their own. */
export type Where = Readonly<Record<string, unknown>>;
export type Row = Readonly<Record<string, any>>;

export const CALLER = { caller: true } as const;
const claim = (path: string) => ({ claim: path }) as const;

export interface Rule {
  readonly allow: 'PUBLIC' | 'USER' | 'OWNER' | 'ROLE' | 'API_KEY';
  readonly owner?: string;
  readonly where?: Where;
  readonly on?: readonly Verb[];
}
export type Verb = 'READ' | 'CREATE' | 'UPDATE' | 'DELETE';

/** How a field leads to rows of a type. */
export interface Way {
  readonly to: string;
  /** The column of this table, of the other table, or the pairs of a join table. */
  readonly own?: string;
  readonly theirs?: string;
  readonly pairs?: { readonly table: string; readonly own: string; readonly other: string };
}

const next: Readonly<Record<string, string>> = { Alpha: 'Beta', Beta: 'Gamma', Gamma: 'Alpha' };
export const TYPES = ['Alpha', 'Beta', 'Gamma'] as const;
export const lower = (type: string) => type.toLowerCase();
const before = (type: string) => TYPES.find((each) => next[each] === type)!;
export { next as NEXT, before };

const ofType = (type: string): Readonly<Record<string, Way>> => ({
  owner: { to: 'User', own: 'owner_id' },
  [lower(next[type]!)]: { to: next[type]!, own: `${lower(next[type]!)}_id` },
  [`${lower(before(type))}s`]: { to: before(type), theirs: `${lower(type)}_id` },
  parent: { to: type, own: 'parent_id' },
  children: { to: type, theirs: 'parent_id' },
});

/** The relations of every type. */
export const WAYS: Readonly<Record<string, Readonly<Record<string, Way>>>> = {
  User: {
    boss: { to: 'User', own: 'boss_id' },
    staff: { to: 'User', theirs: 'boss_id' },
    likes: { to: 'Alpha', pairs: { table: 'alpha_fans', own: 'user_id', other: 'alpha_id' } },
    members: { to: 'Member', theirs: 'user_id' },
  },
  Member: {
    user: { to: 'User', own: 'user_id' },
    alpha: { to: 'Alpha', own: 'alpha_id' },
  },
  Alpha: {
    ...ofType('Alpha'),
    fans: { to: 'User', pairs: { table: 'alpha_fans', own: 'alpha_id', other: 'user_id' } },
    members: { to: 'Member', theirs: 'alpha_id' },
  },
  Beta: ofType('Beta'),
  Gamma: ofType('Gamma'),
};

const LABELS = ['ant', 'bee', 'cat', 'dog'];
const KINDS = ['CALM', 'WILD'];
const COLUMNS: Readonly<Record<string, readonly string[]>> = {
  User: ['id', 'name'],
  Member: ['id', 'role'],
  Alpha: ['id', 'label', 'number', 'flag', 'kind', 'at'],
  Beta: ['id', 'label', 'number', 'flag', 'kind', 'at'],
  Gamma: ['id', 'label', 'number', 'flag', 'kind', 'at'],
};
/** Columns without a value in some rows: comparisons with these are neither true nor false in SQL. */
const NULLABLE: Readonly<Record<string, string>> = {
  User: 'name',
  Member: 'role',
  Alpha: 'number',
  Beta: 'number',
  Gamma: 'kind',
};
const KEYS = ['1', '2', '3', '4', '5', '6'];
const TIMES = ['2026-01-01T00:00:00.000Z', '2026-02-01T00:00:00.000Z'];

export function randomValue(random: Random, column: string): unknown {
  switch (column) {
    case 'id':
      return String(1 + random.below(6));
    case 'number':
      return random.below(5);
    case 'flag':
      return random.chance(0.5);
    case 'kind':
      return random.pick(KINDS);
    case 'role':
      return random.pick(['EDITOR', 'VIEWER']);
    case 'at':
      return random.pick(TIMES);
    case 'name':
      return random.pick(['ann', 'bob']);
    default:
      return random.pick(LABELS);
  }
}

/** The words that fit a column. */
function wordsOf(random: Random, column: string): unknown {
  const value = () => randomValue(random, column);
  const isEnum = column === 'kind' || column === 'role';
  const ordered = !isEnum && column !== 'flag' && column !== 'id';
  const text = column === 'label' || column === 'name';
  const words: (() => unknown)[] = [
    () => value(),
    () => ({ eq: value() }),
    () => ({ ne: value() }),
    () => ({ in: [value(), value(), ...(random.chance(0.4) ? [null] : [])] }),
    () => ({ notIn: [value(), ...(random.chance(0.4) ? [null] : [])] }),
    () => ({ isNull: random.chance(0.5) }),
    () => null,
    () => ({ ne: null }),
    ...(ordered ? [() => ({ [random.pick(['lt', 'lte', 'gt', 'gte'])]: value() })] : []),
    ...(text
      ? [
          () => ({
            [random.pick(['contains', 'startsWith', 'endsWith'])]: random.pick([
              'a',
              'bee',
              'g',
              't',
            ]),
          }),
        ]
      : []),
    ...(column === 'number'
      ? [
          () => claim('n'),
          () => ({ in: claim('list') }),
          () => ({ lt: claim('deep.n') }),
          () => ({ ne: claim('n') }),
          () => ({ notIn: claim('list') }),
        ]
      : []),
    ...(column === 'label' ? [() => claim('word'), () => ({ notIn: claim('words') })] : []),
    ...(column === 'id' ? [() => claim('deep.id'), () => ({ ne: claim('ids') })] : []),
  ];
  return random.pick(words)();
}

/** A condition on rows of a type, over at most `depth` relations. */
export function randomWhere(random: Random, type: string, depth: number): Where {
  const members = Array.from({ length: 1 + Number(random.chance(0.15)) }, () =>
    randomMember(random, type, depth),
  );
  return Object.assign({}, ...members);
}

function randomMember(random: Random, type: string, depth: number): Where {
  const below = () => randomWhere(random, type, depth - 1);
  if (depth > 0 && random.chance(0.3)) {
    const word = random.pick(['and', 'or', 'not']);
    return { [word]: word === 'not' ? below() : [below(), below()] };
  }
  if (depth === 0 || random.chance(0.35)) {
    const column = random.pick(COLUMNS[type]!);
    if (column === 'id' && type === 'User' && random.chance(0.6)) return { id: CALLER };
    return { [column]: wordsOf(random, column) };
  }
  const [name, way] = random.pick(Object.entries(WAYS[type]!));
  const inner = () =>
    random.chance(0.25)
      ? aboutKey(random, way.to)
      : random.chance(0.25)
        ? { [NULLABLE[way.to]!]: wordsOf(random, NULLABLE[way.to]!) }
        : randomWhere(random, way.to, depth - 1);
  if (way.own) {
    if (way.to === 'User' && random.chance(0.4))
      return { [name]: random.chance(0.7) ? CALLER : { ne: CALLER } };
    if (random.chance(0.15))
      return { [name]: random.chance(0.5) ? null : { isNull: random.chance(0.5) } };
    if (random.chance(0.1)) return { [name]: claim('deep.id') };
    return { [name]: inner() };
  }
  const quantifier = random.pick(['some', 'every', 'none', 'count']);
  if (quantifier !== 'count')
    return { [name]: { [quantifier]: random.chance(0.15) ? {} : inner() } };
  return { [name]: { count: { [random.pick(['eq', 'ne', 'gte', 'lt'])]: random.below(3) } } };
}

/**
 * What a foreign key tells without its row, and what only seems so: a key that is not this one, that
 * is null, or one of several conditions.
 */
function aboutKey(random: Random, type: string): Where {
  const key = () => ({
    id: random.chance(0.5) ? wordsOf(random, 'id') : randomValue(random, 'id'),
  });
  const other = () => randomWhere(random, type, 0);
  return random.pick<() => Where>([
    key,
    key,
    () => ({ not: key() }),
    () => ({ or: [key(), random.chance(0.5) ? key() : other()] }),
    () => ({ and: [key(), random.chance(0.5) ? key() : other()] }),
  ])();
}

/** The words about a value that may be missing, and about a key, each in a condition of its own. */
function everyWord(random: Random, type: string): readonly Where[] {
  const column = NULLABLE[type]!;
  const value = () => randomValue(random, column);
  const key = () => randomValue(random, 'id');
  const isNumber = column === 'number';
  return [
    { [column]: value() },
    { [column]: { ne: value() } },
    { [column]: { in: [value(), null] } },
    { [column]: { notIn: [value(), value()] } },
    { [column]: { notIn: [value(), null] } },
    { [column]: null },
    { [column]: { isNull: false } },
    { not: { [column]: value() } },
    { not: { [column]: { notIn: [value()] } } },
    { id: key() },
    { id: { ne: key() } },
    { id: null },
    { or: [{ id: key() }, { [column]: value() }] },
    { and: [{ id: { in: [key(), key(), key()] } }, { [column]: value() }] },
    { or: KEYS.map((id) => ({ id, [column]: { isNull: false } })) },
    ...(isNumber ? [{ number: { lt: 3 } }, { number: { gte: value() } }] : []),
    ...(isNumber ? [{ number: { ne: claim('n') } }, { number: { notIn: claim('list') } }] : []),
  ];
}

/** Every word behind every relation of a type, by every quantifier, and the opposite of some. */
export function everyWhere(random: Random, type: string): readonly Where[] {
  const behind = Object.entries(WAYS[type]!).flatMap(([name, way]): Where[] =>
    way.own
      ? [{ [name]: null }, ...everyWord(random, way.to).map((word) => ({ [name]: word }))]
      : [
          ...['some', 'every', 'none'].flatMap((quantifier) =>
            everyWord(random, way.to).map((word) => ({ [name]: { [quantifier]: word } })),
          ),
          { [name]: { every: {} } },
          ...[0, 1, 2].map((count) => ({ [name]: { count: { eq: count } } })),
        ],
  );
  return [...everyWord(random, type), ...behind].map((where) =>
    random.chance(0.2) ? { not: where } : where,
  );
}

/** A path of relations that ends at a user. */
export function randomPath(random: Random, type: string): string {
  for (;;) {
    const steps: string[] = [];
    let at = type;
    const wanted = 1 + random.below(5);
    while (steps.length < 5) {
      const [name, way] = random.pick(Object.entries(WAYS[at]!));
      steps.push(name);
      at = way.to;
      if (at === 'User' && steps.length >= wanted) return steps.join('.');
    }
  }
}

/** @example printWhere({ owner: CALLER }) // '{owner: CALLER}' */
export function printWhere(value: unknown): string {
  if (value === CALLER) return 'CALLER';
  if (Array.isArray(value)) return `[${value.map(printWhere).join(', ')}]`;
  if (typeof value === 'object' && value !== null)
    return `{${Object.entries(value)
      .map(([key, item]) => `${key}: ${printWhere(item)}`)
      .join(', ')}}`;
  return typeof value === 'string' && /^(CALM|WILD|EDITOR|VIEWER)$/.test(value)
    ? value
    : JSON.stringify(value);
}

export function printRule({ allow, owner, where, on }: Rule): string {
  const words = [
    `allow: [${allow}]`,
    ...(allow === 'ROLE' ? ['roles: ["admin"]'] : []),
    ...(owner ? [`owner: "${owner}"`] : []),
    ...(where ? [`where: ${printWhere(where)}`] : []),
    ...(on ? [`on: [${on.join(' ')}]`] : []),
  ];
  return `@auth(${words.join(', ')})`;
}

export const person = (id: number, extend: Record<string, unknown>, role?: string): Principal => ({
  kind: 'user',
  id,
  role: role ? { id: 1, name: role } : null,
  permissions: [],
  sessionId: 's',
  extend,
});

/** Nobody, users whose claims are values, lists, absent and wrong, an administrator, and keys. */
export const CALLERS: readonly Principal[] = [
  { kind: 'anonymous' },
  person(1, {
    n: 2,
    word: 'bee',
    deep: { n: 3, id: 1 },
    list: [1, 2],
    words: ['ant'],
    ids: [1, 2],
  }),
  person(2, {
    n: [1, 3],
    word: ['ant', 'cat'],
    deep: { n: 1, id: '2' },
    list: 4,
    words: 'dog',
    ids: '3',
  }),
  person(3, { n: null, word: 7, deep: {}, list: [], words: [], ids: [] }, 'admin'),
  { kind: 'api_key', id: 'k', scopes: ['*'], userId: 1 },
  { kind: 'api_key', id: 'k', scopes: ['*'], userId: null },
];
