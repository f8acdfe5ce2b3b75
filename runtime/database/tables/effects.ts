/** What a step does to its object, and what that means for rows, for locks and for servers. */
interface Effect {
  /**
   * The lock of PostgreSQL, see its chapter "Explicit Locking", and what waits while rows are read or
   * rewritten. A lock that is held for a moment blocks nothing here.
   */
  readonly lock: string | null;
  readonly blocks: Blocks;
  /** Whether its part that reads rows can be prepared before the transaction, on PostgreSQL. */
  readonly online?: true;
  /** Whether it takes a moment on SQLite, which otherwise rebuilds a table or makes an index. */
  readonly moment?: true;
  /** What it says of rows in its way; absent when no row can be. */
  readonly rows?: (facts: RiskFacts) => Advice;
  /** What to do instead, release by release, when servers of the release before would fail. */
  readonly instead?: (object: string, it: 'type' | 'field') => readonly string[];
}

export type Blocks = 'nothing' | 'writes' | 'everything';

/** What is wrong with rows, and how to mend it. */
interface Advice {
  readonly what: string;
  readonly fix: string;
}

export interface RiskFacts {
  /** `posts.rating` */
  readonly object: string;
  /** `2 of 7 rows of posts` */
  readonly some: string;
  /** Names of the types. */
  readonly change?: { readonly from: string; readonly to: string } | undefined;
  /** Whether the rows would only lose a part of their values. */
  readonly lossy: boolean;
  /** Whether the column is a relation, which has no `@default`. */
  readonly related: boolean;
}

const EFFECTS = {
  create: { lock: null, blocks: 'nothing', moment: true },
  drop: {
    lock: 'ACCESS EXCLUSIVE',
    blocks: 'nothing',
    rows: ({ object, some }) => ({
      what: `${object} is dropped, and ${some} have a value that is lost`,
      fix: `to keep the values, take the field back; --allow-drop ${object} on generate is the word that drops them`,
    }),
    instead: (object, it) => [
      `take the ${it} out of the schema; the database keeps ${object}`,
      `drop it (--allow-drop ${object}), when no server of the release before runs any more`,
    ],
  },
  rename: {
    lock: 'ACCESS EXCLUSIVE',
    blocks: 'nothing',
    moment: true,
    instead: (object, it) => [
      `add a ${it} of the new name beside ${object}, and write both`,
      `copy the rows over (migrate new), and read the new one`,
      `drop ${object} (--allow-drop)`,
    ],
  },
  add: {
    lock: 'ACCESS EXCLUSIVE',
    blocks: 'nothing',
    moment: true,
    rows: ({ object, some, related }) => ({
      what: `${object} is new and required, and ${some} would have no value for it`,
      fix: related
        ? 'take "!" away, give the rows a value once the column is there, and put "!" back'
        : 'give the field a @default, whose value fills them, or take "!" away',
    }),
    instead: (object) => [
      `add ${object} without "!" or with a @default`,
      `fill the rows that have none (migrate new), and make it required`,
    ],
  },
  type: {
    lock: 'ACCESS EXCLUSIVE',
    blocks: 'everything',
    rows: ({ object, some, change, lossy }) => ({
      what: `${object} turns from ${change!.from} to ${change!.to}, and ${some} ${lossy ? 'would lose part of their value' : 'have a value that is none'}`,
      fix: lossy
        ? `--allow-loss ${object} ${change!.to === 'date' ? 'cuts the time of day' : 'rounds them'}; or take the type back`
        : 'change or empty them, or take the type back; to keep both, add a field of another name',
    }),
    instead: (object) => [
      `add a field of the new type beside ${object}, and write both`,
      `copy the values over (migrate new), and read the new one`,
      `drop ${object} (--allow-drop)`,
    ],
  },
  default: { lock: 'ACCESS EXCLUSIVE', blocks: 'nothing' },
  require: {
    lock: 'ACCESS EXCLUSIVE',
    blocks: 'everything',
    online: true,
    rows: ({ object, some, related }) => ({
      what: `${object} is to be required, and ${some} have no value for it`,
      fix: `${related ? '' : 'give the field a @default, whose value fills them, or '}give those rows a value, or take "!" away`,
    }),
    instead: (object) => [
      `write ${object} always, and fill the rows that have none (migrate new)`,
      `make it required`,
    ],
  },
  relax: { lock: 'ACCESS EXCLUSIVE', blocks: 'nothing' },
  unique: {
    lock: 'SHARE',
    blocks: 'writes',
    online: true,
    rows: ({ object, some }) => ({
      what: `${object} is to be unique, and ${some} repeat a value`,
      fix: 'give each of these rows a value of its own; or take @unique back, where the schema says it',
    }),
  },
  check: {
    lock: 'ACCESS EXCLUSIVE',
    blocks: 'everything',
    online: true,
    rows: ({ object, some }) => ({
      what: `${object} allows less than before, and ${some} have a value outside`,
      fix: 'change them, or allow their values again',
    }),
  },
  reference: {
    lock: 'SHARE ROW EXCLUSIVE',
    blocks: 'writes',
    online: true,
    rows: ({ object, some }) => ({
      what: `${object} is to refer to rows of another table, and ${some} lead nowhere`,
      fix: 'change or empty them, or take the relation back',
    }),
  },
  index: { lock: 'SHARE', blocks: 'writes', online: true },
  search: { lock: 'SHARE ROW EXCLUSIVE', blocks: 'writes', online: true },
  /** A value of an enum has a new name. */
  value: {
    lock: 'ROW EXCLUSIVE',
    blocks: 'writes',
    instead: (object) => [
      `add the new value beside the old one, and write the new one`,
      `rename the rest of ${object} (@renamed), and take the old value out`,
    ],
  },
  unknown: { lock: null, blocks: 'everything' },
} as const satisfies Readonly<Record<string, Effect>>;

/** The effect of a step on its object. */
export type Does = keyof typeof EFFECTS;

/** The effects that rows can prevent. */
export type Doing = {
  [K in Does]: (typeof EFFECTS)[K] extends { readonly rows: unknown } ? K : never;
}[Does];

export const effectOf = (does: Does): Effect => EFFECTS[does];

/** What is said of rows in the way of a step. */
export const adviceFor = (does: Doing, facts: RiskFacts): Advice => EFFECTS[does].rows(facts);
