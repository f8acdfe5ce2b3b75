import type { ColumnType, Generated } from 'kysely';

/**
 * A table of `ctx.db`, whose rows have the names of the schema.
 *
 * @example
 * interface Database { blogPosts: TableOf<BlogPostRow, 'id', 'tags'> }
 * @typeParam Row What is read.
 * @typeParam Optional Columns that an insert may leave out although they are never empty.
 * @typeParam Json Columns that are written as the text of JSON.
 */
export type TableOf<Row, Optional extends keyof Row = never, Json extends keyof Row = never> = {
  readonly [Name in keyof Row]-?: Name extends Json
    ? ColumnType<Value<Row[Name]>, Text<Value<Row[Name]>>>
    : Name extends Optional
      ? Generated<Value<Row[Name]>>
      : Value<Row[Name]>;
};

type Value<Member> = Exclude<Member, undefined>;
type Text<Member> = null extends Member ? string | null : string;
