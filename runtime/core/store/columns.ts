import type { Generated } from 'kysely';

/**
 * The type of a row from its SQL: `id text primary key, name text` is
 * `{ id: string; name: string | null }`. A module keeps its tables as texts, from which both the
 * migration and the types of queries are made. Names may stand in quotes.
 *
 * @typeParam More what further words stand for in the place of a column's type.
 */
export type Columns<Text extends string, More = {}> = {
  [Column in Parts<Text> as NameOf<Column>]: ValueOf<Column, Values & More>;
};
type Parts<Text extends string> = Text extends `${infer Column},${infer Rest}`
  ? Trimmed<Column> | Parts<Rest>
  : Trimmed<Text>;
type Trimmed<Text extends string> = Text extends `${' ' | '\n'}${infer Rest}`
  ? Trimmed<Rest>
  : Text;
type NameOf<Column extends string> = Column extends `"${infer Name}" ${string}`
  ? Name
  : Column extends `${'"' | 'constraint'}${string}`
    ? never
    : Column extends `${infer Name} ${string}`
      ? Name
      : never;
type ValueOf<Column extends string, Known> = Column extends `${string} COUNTED`
  ? Generated<number>
  : Column extends `${string} default ${string}`
    ? Generated<Filled<Column, Known>>
    : Column extends `${string} ${'not null' | 'primary key'}${string}` | `${string}!`
      ? Filled<Column, Known>
      : Filled<Column, Known> | null;
type Filled<Column extends string, Known> = {
  [Type in keyof Known & string]: Column extends `${string} ${Type}${'' | '!' | ` ${string}`}`
    ? Known[Type]
    : never;
}[keyof Known & string];
interface Values {
  text: string;
  integer: number;
  bigint: number;
  'double precision': number;
}
