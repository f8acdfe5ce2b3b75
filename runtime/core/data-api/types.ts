/** What `ctx.data.<entity>` takes and returns. `src/generated/types.ts` has one for each entity. */
export interface EntityShape {
  readonly row: object;
  /** One of its unique keys. */
  readonly key: object;
  /** The shapes of to-one relations. */
  readonly one: object;
  /** The shapes of to-many relations. */
  readonly many: object;
  /** Whether its rows can be searched. */
  readonly search?: true;
}

type Id = number | string;
type Shape<S> = S extends EntityShape ? S : never;

/** The row that a relation connects: its key, or an object with it. */
export type Connection = Id | { readonly id: Id };

/** The fields of a row, and its relations as inputs set them. */
export type DataInput<S extends EntityShape> = {
  readonly [Name in keyof S['row']]?: S['row'][Name];
} & {
  readonly [Name in keyof S['one']]?: {
    readonly connect?: Connection;
    readonly create?: DataInput<Shape<S['one'][Name]>>;
  } | null;
} & {
  readonly [Name in keyof S['many']]?: {
    readonly connect?: Connection | readonly Connection[];
    readonly disconnect?: Connection | readonly Connection[];
    readonly create?:
      | DataInput<Shape<S['many'][Name]>>
      | readonly DataInput<Shape<S['many'][Name]>>[];
  };
};

/** The operators of a filter; a value alone means `eq`. */
export interface FilterInput<Value> {
  readonly eq?: Value | null;
  readonly ne?: Value | null;
  readonly in?: readonly (Value | null)[];
  readonly notIn?: readonly (Value | null)[];
  readonly lt?: Value;
  readonly lte?: Value;
  readonly gt?: Value;
  readonly gte?: Value;
  readonly contains?: string;
  readonly startsWith?: string;
  readonly endsWith?: string;
  readonly isNull?: boolean;
}

export type WhereInput<S extends EntityShape> = {
  readonly [Name in keyof S['row']]?:
    | S['row'][Name]
    | FilterInput<NonNullable<S['row'][Name]>>
    | null;
} & {
  readonly [Name in keyof S['one']]?: WhereInput<Shape<S['one'][Name]>> | null;
} & {
  readonly [Name in keyof S['many']]?: {
    readonly some?: WhereInput<Shape<S['many'][Name]>>;
    readonly every?: WhereInput<Shape<S['many'][Name]>>;
    readonly none?: WhereInput<Shape<S['many'][Name]>>;
  };
} & {
  readonly and?: readonly WhereInput<S>[];
  readonly or?: readonly WhereInput<S>[];
  readonly not?: WhereInput<S>;
};

export type OrderInput<S extends EntityShape> = {
  readonly [Name in keyof S['row']]?: 'asc' | 'desc';
};

/** Which rows, in which order. */
export interface ListInput<S extends EntityShape> {
  readonly where?: WhereInput<S>;
  readonly orderBy?: OrderInput<S> | readonly OrderInput<S>[];
  /** Words that the rows must have, the best rows first: for types with `@search`. */
  readonly search?: SearchInput<S>;
  readonly limit?: number;
  readonly offset?: number;
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
  findUnique(args: { readonly where: S['key'] }): Promise<S['row'] | null>;
  /** The first row of the order. */
  findFirst(args?: ListInput<S>): Promise<S['row'] | null>;
  /** All rows when there is no `limit`: the limits of the API are for callers. */
  findMany(args?: ListInput<S>): Promise<S['row'][]>;
  count(args?: Pick<ListInput<S>, 'where' | 'search'>): Promise<number>;
  /** @returns null when there is no such row */
  update(args: { readonly where: S['key']; readonly data: DataInput<S> }): Promise<S['row'] | null>;
  /** Updates the row with the key, or makes it: one row, however many do so at once. */
  upsert(args: {
    readonly where: S['key'];
    readonly create: DataInput<S>;
    readonly update: DataInput<S>;
  }): Promise<S['row']>;
  /** All of them or none; with `skipDuplicates` those whose key is taken are left out. */
  createMany(args: {
    readonly data: readonly DataInput<S>[];
    readonly skipDuplicates?: boolean;
  }): Promise<S['row'][]>;
  /** @returns how many rows; an empty `where` is refused */
  updateMany(args: { readonly where: WhereInput<S>; readonly data: DataInput<S> }): Promise<number>;
  /** @returns how many rows; an empty `where` is refused */
  deleteMany(args: { readonly where: WhereInput<S> }): Promise<number>;
  /** @returns the row as it was, or null when there is none */
  delete(args: { readonly where: S['key'] }): Promise<S['row'] | null>;
}
