import type {
  Api,
  AuthRule,
  Column,
  Constraint,
  Entity,
  ErrorType,
  FilterOperator,
  FilterWord,
  IdKind,
  Index,
  JobSettings,
  NestedParts,
  ObjectType,
  OrderShape,
  ScalarType,
  MigrationSettings,
  Observability,
  ServerOptions,
} from '@twofold/schema';

/**
 * The model as `src/generated/model.ts` writes it: what the SDL does not say. Everything is listed
 * by name, and an absent member has its most common value.
 */
export interface Model {
  readonly name: string;
  readonly ids: IdKind;
  /** Another program owns the tables: no statement changes their structure. */
  readonly unmanaged?: true;
  /** Milliseconds; 10 s when absent. */
  readonly transactionTimeout?: number;
  /** Milliseconds; 10 s when absent. */
  readonly maxLag?: number;
  /** `serializable` when absent. */
  readonly isolation?: 'repeatable read' | 'read committed';
  /** Limits for migrations; 5 s and 10,000 rows when absent. */
  readonly migrations?: MigrationSettings;
  readonly jobs?: JobSettings;
  readonly observability?: Observability;
  readonly entities: Readonly<Record<string, EntityWords>>;
  /** Object types that have no table. */
  readonly objects?: Readonly<Record<string, ObjectType['role']>>;
  /** Scalars besides GraphQL's own five. */
  readonly scalars?: Readonly<Record<string, Pick<ScalarType, 'column' | 'source'>>>;
  /**
   * The columns and relations that an input object, or the arguments of a field, set: by
   * `Input:Entity`. A name alone, here and below, stands for an entity after whose fields the
   * members are named.
   */
  readonly writes?: Readonly<Record<string, Readonly<Record<string, WriteField>> | string>>;
  /** The meaning of each `where` input. */
  readonly filters?: Readonly<
    Record<
      string,
      { readonly entity: string; readonly fields: Readonly<Record<string, FilterField>> } | string
    >
  >;
  /** The meaning of each `orderBy` input. */
  readonly orders?: Readonly<
    Record<string, ({ readonly entity: string } & OrderShape['form']) | string>
  >;
  /** The members of result unions that answer in place of an error. */
  readonly errors?: Readonly<Record<string, readonly Omit<ErrorType, 'type'>[]>>;
  /** Access rules, by schema coordinate: `User`, `User.email`, `Mutation.createPost`. */
  readonly access?: Readonly<Record<string, readonly AuthRule[]>>;
  /** Limits of arguments and fields of inputs: `Query.users(limit:)`, `NewTag.color`. */
  readonly constraints?: Readonly<Record<string, Constraint>>;
  readonly api: Api;
  readonly server: ServerOptions;
}

/** Properties of an entity that the SDL, `columns` and `access` do not give. */
export interface EntityWords extends Omit<
  Entity,
  'name' | 'description' | 'fields' | 'columns' | 'indexes' | 'rules' | 'interfaces' | 'renamedFrom'
> {
  /** By name, the key first. `'text!'` is a required column whose field has the same name. */
  readonly columns: Readonly<Record<string, ColumnWords>>;
  readonly indexes?: readonly Index[];
}

export type ColumnWords =
  | string
  | ({ readonly type: string } & Partial<
      Omit<Column, 'name' | 'type' | 'required' | 'renamedFrom'>
    >);

/**
 * `'email'`: the column. `key`, `keys` and `nested` name the relation's field. `null`: the value is
 * not stored.
 */
export type WriteField =
  | string
  | null
  | { readonly column: string; readonly constraint: Constraint }
  | { readonly ignored: true; readonly constraint: Constraint }
  | { readonly key: string }
  | { readonly keys: string; readonly constraint?: Constraint }
  | ({ readonly nested: string } & NestedParts);

/**
 * `'created_at: eq lt gt'`: column and operators. `equals`, `object`, `one` and `many` name the
 * column or the relation's field.
 */
export type FilterField =
  | string
  | { readonly equals: string }
  | { readonly group: 'and' | 'or' | 'not' | 'isNull' }
  | { readonly tally: string; readonly operators?: readonly FilterOperator[] }
  | { readonly object: string; readonly shape: string }
  | { readonly one: string; readonly shape: string }
  | {
      readonly many: string;
      readonly quantifiers: readonly ('some' | 'every' | 'none')[];
      readonly shape: string;
      readonly count?: readonly FilterWord[];
      readonly groups?: readonly ('and' | 'or' | 'not')[];
    };

/** Splits `'created_at: eq lt gt'` into column and operators. */
export function splitOperators(text: string): { column: string; operators: FilterWord[] } {
  const [column = '', operators = ''] = text.split(': ');
  return { column, operators: operators.split(' ') as FilterWord[] };
}
