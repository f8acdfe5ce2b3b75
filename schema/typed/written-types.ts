/** The part of a schema in types that these are made from. */
interface Fields {
  readonly fields: object;
  readonly enums: object;
}

/** The name in a reference: `Post` of `[Post!]!`. */
type NameIn<Ref> = Ref extends `${infer Inner}!`
  ? NameIn<Inner>
  : Ref extends `[${infer Inner}]`
    ? NameIn<Inner>
    : Ref extends string
      ? Ref
      : never;

type RefOf<Entry> = Entry extends { readonly type: infer Ref } ? Ref : Entry;

/** The references of the fields of an object type, without its connections. */
type Refs<S extends Fields, Of extends keyof S['fields'], Without> = {
  [
    K in keyof S['fields'][Of] as K extends Without
      ? never
      : NonNullable<RefOf<S['fields'][Of][K]>> extends `${string}Connection!`
        ? never
        : K
  ]-?: RefOf<S['fields'][Of][K]>;
};

/** Without lists. */
type Single<Of> = { [K in keyof Of as Of[K] extends `[${string}` ? never : K]: Of[K] };

/** `PostConnection`, as `api.crud` writes it. */
export interface ConnectionOf<Of extends string> {
  aggregate: `${Of}Aggregate!`;
  edges: `[${Of}Edge!]!`;
  nodes: `[${Of}!]!`;
  pageInfo: 'PageInfo!';
  totalCount: 'Int!';
}

/** `PostEdge` */
export interface EdgeOf<Of extends string> {
  cursor: 'String!';
  node: `${Of}!`;
}

/** `PostAggregate` */
export interface AggregateOf<Of extends string> {
  avg: `${Of}Averages!`;
  count: 'Int!';
  countDistinct: `${Of}Counts!`;
  max: `${Of}Values!`;
  min: `${Of}Values!`;
  sum: `${Of}Sums!`;
}

/** `PostCounts` */
export type CountsOf<S extends Fields, Of extends keyof S['fields'], Without = never> = {
  [K in keyof Single<Refs<S, Of, Without | 'id'>>]: 'Int!';
};

/** `PostValues`, of `min` and `max`. */
export type ValuesOf<S extends Fields, Of extends keyof S['fields'], Without = never> = {
  [
    K in keyof Single<Refs<S, Of, Without | 'id'>> as NameIn<
      Refs<S, Of, Without>[K & keyof Refs<S, Of, Without>]
    > extends keyof S['fields'] | keyof S['enums'] | 'Boolean' | 'ID'
      ? never
      : K
  ]?: NameIn<Refs<S, Of, Without>[K & keyof Refs<S, Of, Without>]>;
};

/** The types of an exact sum and of an average, by the type of the values. */
interface Summed {
  BigInt: 'BigInt';
  Decimal: 'Decimal';
  Float: 'Float';
  Int: 'BigInt';
}
interface Averaged {
  BigInt: 'Float';
  Decimal: 'Decimal';
  Float: 'Float';
  Int: 'Float';
}

type FiguresOf<Of, Types> = {
  [K in keyof Of as NameIn<Of[K]> extends keyof Types ? K : never]?: Types[NameIn<Of[K]> &
    keyof Types];
};

/** `PostSums` */
export type SumsOf<S extends Fields, Of extends keyof S['fields'], Without = never> = FiguresOf<
  Single<Refs<S, Of, Without>>,
  Summed
>;

/** `PostAverages` */
export type AveragesOf<S extends Fields, Of extends keyof S['fields'], Without = never> = FiguresOf<
  Single<Refs<S, Of, Without>>,
  Averaged
>;

/** `PostFilter` */
export type FilterOf<S extends Fields, Of extends keyof S['fields'] & string, Without = never> = {
  [K in keyof Refs<S, Of, Without>]?: Refs<S, Of, Without>[K] extends `[${string}`
    ? `${NameIn<Refs<S, Of, Without>[K]>}ListFilter`
    : `${NameIn<Refs<S, Of, Without>[K]>}Filter`;
} & { and?: `[${Of}Filter!]`; or?: `[${Of}Filter!]`; not?: `${Of}Filter` };

/** `PostListFilter` */
export interface ListFilterOf<Of extends string> {
  count?: 'IntFilter';
  every?: `${Of}Filter`;
  none?: `${Of}Filter`;
  some?: `${Of}Filter`;
}

/** `PostOrder` */
export type OrderOf<S extends Fields, Of extends keyof S['fields'], Without = never> = {
  [K in keyof Refs<S, Of, Without>]?: NameIn<Refs<S, Of, Without>[K]> extends keyof S['fields']
    ? Refs<S, Of, Without>[K] extends `[${string}`
      ? `${NameIn<Refs<S, Of, Without>[K]>}ListOrder`
      : `${NameIn<Refs<S, Of, Without>[K]>}Order`
    : 'Direction';
};

/** `PostField`: `CREATED_AT` of `createdAt`. */
export type FieldNamesOf<
  S extends Fields,
  Of extends keyof S['fields'],
  Without = never,
> = EnumName<keyof Single<Refs<S, Of, Without>>>;

type EnumName<Field> = Field extends string ? Uppercase<Snake<Field>> : never;

type Snake<Text extends string> = Text extends `${infer Head}${infer Tail}`
  ? Tail extends Uncapitalize<Tail>
    ? `${Head}${Snake<Tail>}`
    : `${Head}_${Snake<Tail>}`
  : Text;

/** The name of a field in an input: that of a row is its key. */
type GivenName<S extends Fields, Field, Ref> = Field extends string
  ? NameIn<Ref> extends keyof S['fields']
    ? `${Field}Id`
    : Field
  : never;

/** `Tag!` → `ID!` */
type GivenRef<S extends Fields, Ref> =
  NameIn<Ref> extends keyof S['fields'] ? (Ref extends `${string}!` ? 'ID!' : 'ID') : Ref;

/** `CreatePostInput`: the values and keys that a row is made of. */
export type CreateOf<S extends Fields, Of extends keyof S['fields'], Without = never> = {
  [
    K in keyof S['fields'][Of] as NonNullable<RefOf<S['fields'][Of][K]>> extends `[${string}`
      ? never
      : NonNullable<RefOf<S['fields'][Of][K]>> extends `${string}Connection!`
        ? never
        : Exclude<GivenName<S, K, NonNullable<RefOf<S['fields'][Of][K]>>>, Without | 'id'>
  ]: GivenRef<S, NonNullable<RefOf<S['fields'][Of][K]>>>;
};

/** The input of an update: that of a create, and nothing has to be given. */
export type PatchOf<Input> = {
  [K in keyof Input]?: Input[K] extends `${infer Ref}!` ? Ref : Input[K];
};

/** The arguments of a list. */
export interface ListArgs<Of extends string> {
  distinct?: `[${Of}Field!]`;
  limit?: 'Int';
  offset?: 'Int';
  orderBy?: `[${Of}Order!]`;
  where?: `${Of}Filter`;
}

/** The arguments of a connection. */
export interface ConnectionArgs<Of extends string> {
  after?: 'String';
  before?: 'String';
  first?: 'Int';
  last?: 'Int';
  orderBy?: `[${Of}Order!]`;
  where?: `${Of}Filter`;
}
