/** The operators of a filter; a value alone means `eq`. */
export type FilterInput<Value> = [Value] extends [readonly (infer Item)[]]
  ? ListFilterInput<Value, Item>
  : ValueFilterInput<Value>;

/** The operators for a list. */
export interface ListFilterInput<List, Item> {
  readonly eq?: List | null;
  readonly ne?: List | null;
  readonly has?: Item;
  readonly hasSome?: readonly Item[];
  readonly hasEvery?: readonly Item[];
  readonly isEmpty?: boolean;
  readonly isNull?: boolean;
}

/** The operators for a single value. */
export interface ValueFilterInput<Value> {
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
  /** Whether letters are compared with their case, as they are when it is absent. */
  readonly mode?: 'SENSITIVE' | 'INSENSITIVE' | 'sensitive' | 'insensitive';
  readonly isNull?: boolean;
}
