import type { FilterInput } from './filter-types.ts';

/**
 * The types that `ctx.data.<entity>` takes and returns. `src/generated/types.ts` has one for each
 * entity.
 */
export interface EntityShape {
  readonly row: object;
  /** One of its unique keys. */
  readonly key: object;
  /** The shapes of to-one relations. */
  readonly one: object;
  /** The shapes of to-many relations. */
  readonly many: object;
  /** The names of to-many relations that are not written, as the members of an organization. */
  readonly readOnly?: string;
  /** The fields with `@count` and `@exists`, if there are any. */
  readonly tally?: object;
  /** The fields whose text a `Date` may be given for. */
  readonly times?: string;
  /** The fields whose numbers are text: `BigInt` and `Decimal`. */
  readonly exact?: string;
  /** The field that counts the updates of a row: `@version`. */
  readonly version?: string;
  /** Whether its rows can be searched. */
  readonly search?: true;
}

type Id = number | string;
type Shape<S> = S extends EntityShape ? S : never;

/** The row that a relation connects: its id, or an object with one of its unique keys. */
export type Connection<S extends EntityShape> = Id | { readonly id: Id } | S['key'];

type Some<T> = T | readonly T[];

type ReadOnly<S extends EntityShape> = S extends { readonly readOnly: infer Names } ? Names : never;

type Tally<S extends EntityShape> = S extends { readonly tally: infer T } ? T : object;

/** The row with the key. It is created if it does not exist. */
export interface ConnectOrCreate<S extends EntityShape> {
  readonly where: S['key'];
  readonly create: DataInput<S>;
}

/** Changes to the row of a to-one relation. */
export interface OneInput<S extends EntityShape> {
  readonly connect?: Connection<S>;
  readonly create?: DataInput<S>;
  readonly connectOrCreate?: ConnectOrCreate<S>;
  readonly update?: UpdateInput<S>;
  readonly disconnect?: boolean;
  readonly delete?: boolean;
}

/**
 * Changes to the rows of a to-many relation. `update` and `delete` only affect rows that belong to
 * this row.
 */
export interface ManyInput<S extends EntityShape> {
  readonly disconnect?: Some<Connection<S>>;
  readonly delete?: Some<Connection<S>>;
  /** Exactly these rows. */
  readonly set?: Some<Connection<S>>;
  readonly connect?: Some<Connection<S>>;
  readonly connectOrCreate?: Some<ConnectOrCreate<S>>;
  readonly update?: Some<{ readonly where: Connection<S>; readonly data: UpdateInput<S> }>;
  readonly create?: Some<DataInput<S>>;
}

type Times<S extends EntityShape> = S extends { readonly times: infer Names } ? Names : never;
type OrDate<T> = T extends readonly (infer Item)[]
  ? readonly OrDate<Item>[]
  : T extends string
    ? T | Date
    : T;
type Given<S extends EntityShape, Name extends keyof S['row']> =
  Name extends Times<S> ? OrDate<S['row'][Name]> : S['row'][Name];

/** What a literal has of a name that it does not say, such as `constructor`. */
// oxlint-disable-next-line typescript/no-wrapper-object-types
type Inherited<Name> = Name extends keyof Object ? Object[Name] : never;

type VersionOf<S extends EntityShape> = S extends { readonly version: infer Name } ? Name : never;

/** The fields of a row, and its relations as inputs set them. Undefined leaves a field alone. */
export type DataInput<S extends EntityShape> = {
  readonly [Name in Exclude<keyof S['row'], VersionOf<S>>]?:
    | Given<S, Name>
    | Inherited<Name>
    | undefined;
} & RelationsInput<S>;

type Exact<S extends EntityShape> = S extends { readonly exact: infer Names } ? Names : never;

/** One way to make a new value from the old one, in the statement itself. */
type NumberChange<Value> =
  | { readonly increment: Value }
  | { readonly decrement: Value }
  | { readonly multiply: Value }
  | { readonly set: Value | null };

/** An operator in the input of an update. */
export type ChangeOf<
  S extends EntityShape,
  Name extends keyof S['row'],
  Value = NonNullable<S['row'][Name]>,
> = Value extends readonly (infer Item)[]
  ? { readonly push: Item | readonly Item[] } | { readonly set: Value | null }
  : Name extends VersionOf<S>
    ? never
    : Value extends number
      ? NumberChange<Value>
      : Name extends Exact<S>
        ? NumberChange<Value>
        : never;

/** The fields of a row as an update sets them, from the old value too: `{ increment: 1 }`. */
export type UpdateInput<S extends EntityShape> = {
  readonly [Name in keyof S['row']]?:
    | Given<S, Name>
    | ChangeOf<S, Name>
    | Inherited<Name>
    | undefined;
} & RelationsInput<S>;

/** A unique key, and the version that was read. */
export type KnownKey<S extends EntityShape> = S extends { readonly version: infer Name }
  ? S['key'] & { readonly [Each in Name & keyof S['row']]?: number }
  : S['key'];

/** The relations of a row as inputs set them. */
export type RelationsInput<S extends EntityShape> = {
  readonly [Name in keyof S['one']]?: OneInput<Shape<S['one'][Name]>> | null | undefined;
} & {
  readonly [Name in Exclude<keyof S['many'], ReadOnly<S>>]?:
    | ManyInput<Shape<S['many'][Name]>>
    | undefined;
};

export type WhereInput<S extends EntityShape> = {
  readonly [Name in keyof S['row']]?:
    | Given<S, Name>
    | FilterInput<NonNullable<Given<S, Name>>>
    | Inherited<Name>
    | null;
} & {
  readonly [Name in keyof S['one']]?: WhereInput<Shape<S['one'][Name]>> | null;
} & {
  readonly [Name in keyof S['many']]?: {
    readonly some?: WhereInput<Shape<S['many'][Name]>>;
    readonly every?: WhereInput<Shape<S['many'][Name]>>;
    readonly none?: WhereInput<Shape<S['many'][Name]>>;
    readonly count?: CountInput | number;
  };
} & {
  readonly [Name in keyof Tally<S>]?: Tally<S>[Name] extends boolean
    ? boolean | Pick<FilterInput<boolean>, 'eq' | 'ne'>
    : number | CountInput;
} & {
  readonly and?: readonly WhereInput<S>[];
  readonly or?: readonly WhereInput<S>[];
  readonly not?: WhereInput<S>;
};

type CountInput = Pick<
  FilterInput<number>,
  'eq' | 'ne' | 'in' | 'notIn' | 'lt' | 'lte' | 'gt' | 'gte'
>;

/** Null counts as the highest value, unless `nulls` is given. */
export type OrderDirection =
  | 'asc'
  | 'desc'
  | { readonly direction: 'asc' | 'desc'; readonly nulls?: 'first' | 'last' };

/** The members are applied in the order in which they are written. */
export type OrderInput<S extends EntityShape> = {
  readonly [Name in keyof S['row'] | keyof Tally<S>]?: OrderDirection | Inherited<Name>;
} & {
  readonly [Name in keyof S['one']]?: OrderInput<Shape<S['one'][Name]>>;
} & {
  readonly [Name in keyof S['many']]?: { readonly count: OrderDirection };
};

/** Which rows are read, and in which order. */
export interface ListInput<S extends EntityShape> {
  readonly where?: WhereInput<S>;
  readonly orderBy?: OrderInput<S> | readonly OrderInput<S>[];
  /** For each combination of these fields, only the first row in the order is returned. */
  readonly distinct?: readonly (keyof S['row'])[];
  /** A search, for types with `@search`. Rows that fit best come first. */
  readonly search?: SearchInput<S>;
  readonly limit?: number;
  readonly offset?: number;
}

/** Locks rows until the transaction ends, so that others wait who lock or write them. */
export interface LockInput {
  readonly for?: 'update';
  /** Leaves out what others have locked. */
  readonly skipLocked?: boolean;
  /** `CONFLICT` with `reason: "LOCKED"` at once when others have locked a row. */
  readonly noWait?: boolean;
}

type SearchInput<S extends EntityShape> = S['search'] extends true ? string | null : never;

/**
 * `ctx.data.<entity>`: rows with the checks, rules and events of the API.
 *
 * @example
 * const article = await ctx.data.article.findUnique({ where: { slug: 'hello' } });
 */
export interface EntityData<S extends EntityShape> {
  /** @throws AppError `BAD_USER_INPUT`, `FORBIDDEN`, `CONFLICT` with `fields` */
  create(args: { readonly data: DataInput<S> }): Promise<S['row']>;
  findUnique(args: { readonly where: S['key'] } & LockInput): Promise<S['row'] | null>;
  /** The first row of the order. */
  findFirst(args?: ListInput<S> & LockInput): Promise<S['row'] | null>;
  /** All rows when there is no `limit`, because the limits of the API are only for its callers. */
  findMany(args?: ListInput<S> & LockInput): Promise<S['row'][]>;
  count(args?: Pick<ListInput<S>, 'where' | 'search'>): Promise<number>;
  /** @returns null when there is no such row */
  update(args: {
    readonly where: S['key'];
    readonly data: UpdateInput<S>;
  }): Promise<S['row'] | null>;
  /** Updates the row with the key, or creates it. Simultaneous calls give one row. */
  upsert(args: {
    readonly where: S['key'];
    readonly create: DataInput<S>;
    readonly update: UpdateInput<S>;
  }): Promise<S['row']>;
  /** Creates all rows or none. With `skipDuplicates`, rows whose key exists are left out. */
  createMany(args: {
    readonly data: readonly DataInput<S>[];
    readonly skipDuplicates?: boolean;
  }): Promise<S['row'][]>;
  /** @returns how many rows; an empty `where` is refused */
  updateMany(args: {
    readonly where: WhereInput<S>;
    readonly data: UpdateInput<S>;
  }): Promise<number>;
  /** @returns how many rows; an empty `where` is refused */
  deleteMany(args: { readonly where: WhereInput<S> }): Promise<number>;
  /** @returns the row as it was, or null when there is none */
  delete(args: { readonly where: KnownKey<S> }): Promise<S['row'] | null>;
}
