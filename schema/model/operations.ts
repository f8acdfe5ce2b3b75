import type { Aggregated, ListOptions } from './lists.ts';
import type { AuthRule } from './access.ts';
import type { Argument, Constraint, TypeRef } from './types.ts';

/** A field of Query, Mutation or Subscription. */
export interface Operation {
  readonly root: 'query' | 'mutation' | 'subscription';
  readonly name: string;
  readonly args: readonly Argument[];
  readonly type: TypeRef;
  readonly description?: string;
  readonly action: Action;
  readonly rules: readonly AuthRule[];
  readonly decidedBy: string;
}

/**
 * The action of a root field. It is data, so that a whole selection can become one SQL statement.
 */
export type Action =
  /**
   * One row, by key or by fields. `by` maps arguments to columns. `unique` is false when several
   * rows could match.
   */
  | {
      readonly kind: 'get';
      readonly entity: string;
      readonly by: readonly { readonly arg: string; readonly column: string }[];
      readonly unique: boolean;
    }
  /** The caller's own row: `me: User`. Without a sign-in there is none. */
  | { readonly kind: 'caller'; readonly entity: string }
  | { readonly kind: 'list'; readonly entity: string; readonly list: ListOptions }
  | Aggregated
  /** A list over an interface or union of entities. */
  | { readonly kind: 'listAbstract'; readonly type: string; readonly list: ListOptions }
  /** `node(id: ID!): Node`. */
  | { readonly kind: 'node'; readonly arg: string }
  /** `nodes(ids: [ID!]!): [Node]!`. */
  | { readonly kind: 'nodes'; readonly arg: string }
  | {
      readonly kind: 'create';
      readonly entity: string;
      readonly write: string;
      readonly input?: string;
      /** Arguments beside `input` that count as its members: those that `@computed` gives to hooks. */
      readonly beside?: readonly string[];
      readonly returns: Returns;
    }
  | {
      readonly kind: 'update';
      readonly entity: string;
      /** Absent when a unique key finds the row, see `by`. */
      readonly id?: ArgumentPath;
      readonly by?: RowKey;
      readonly write: string;
      readonly input?: string;
      readonly beside?: readonly string[];
      readonly returns: Returns;
    }
  | {
      readonly kind: 'remove';
      readonly entity: string;
      readonly id?: ArgumentPath;
      readonly by?: RowKey;
      /** The argument with the version that the caller has read. */
      readonly version?: string;
      readonly returns: Returns;
    }
  /** Updates the row with the key, or creates it. */
  | {
      readonly kind: 'upsert';
      readonly entity: string;
      readonly by: RowKey;
      readonly create: WriteAt;
      readonly update: WriteAt;
      readonly returns: Returns;
    }
  /** `skipDuplicates`: the argument that leaves out rows whose key is taken. */
  | {
      readonly kind: 'createMany';
      readonly entity: string;
      readonly write: string;
      readonly input: string;
      readonly skipDuplicates?: string;
      readonly returns: Returns;
    }
  | ({
      readonly kind: 'updateMany';
      readonly entity: string;
      readonly write: string;
      readonly input: string;
      readonly returns: Returns;
    } & WhichRows)
  | ({
      readonly kind: 'removeMany';
      readonly entity: string;
      readonly returns: Returns;
    } & WhichRows)
  | {
      readonly kind: 'subscribe';
      readonly entity: string;
      readonly on: readonly ChangeKind[];
      readonly id?: string;
    }
  | { readonly kind: 'custom' };

/**
 * The rows that a mutation of several rows writes: those of a filter, or those whose keys are in an
 * argument.
 */
export interface WhichRows {
  readonly where?: { readonly arg: string; readonly shape: string };
  readonly ids?: string;
}

/** A write shape, and the argument that holds its values. */
export interface WriteAt {
  readonly write: string;
  readonly input: string;
}

/**
 * How arguments name one row. Each member is a unique key: the path of an argument (`where.slug`) →
 * its column. A caller gives exactly one of them whole.
 */
export type RowKey = readonly Readonly<Record<string, string>>[];

export type ChangeKind = 'created' | 'updated' | 'deleted';

/** The path of an argument: `['id']`, or `['input', 'id']` inside an input object. */
export type ArgumentPath = readonly string[];

/**
 * What a mutation returns. `payload` names the field of the payload that contains the entity, and
 * other fields.
 */
export type Returns =
  | { readonly kind: 'entity' }
  | { readonly kind: 'id' }
  | { readonly kind: 'boolean' }
  /** For a mutation of several rows: the rows, or their number. */
  | { readonly kind: 'rows' }
  | { readonly kind: 'count' }
  | {
      readonly kind: 'payload';
      readonly type: string;
      readonly entity?: string;
      readonly id?: string;
      readonly ok?: string;
      /**
       * For a mutation of several rows: the field with the rows, and the field with their number.
       */
      readonly rows?: string;
      readonly count?: string;
      readonly clientMutationId?: string;
      /** Lists of errors, which are empty on success: `errors`, `userErrors`. */
      readonly empty?: readonly string[];
    };

/**
 * A type that is returned in place of an error with this code, and about this field if one is
 * named.
 */
export interface ErrorType {
  readonly type: string;
  readonly code: string;
  readonly field?: string;
}

/** `connectOrCreate: { where: { name }, create: {…} }`; `by` begins with the name of `where`. */
export interface ConnectOrCreate {
  readonly name: string;
  readonly by: RowKey;
  readonly create: { readonly name: string; readonly shape: string };
}

export interface WriteShape {
  /**
   * `CreateUserInput:User`, or `Mutation.createUser:User` when the fields are arguments;
   * `UserInput#patch:User` when the input also contains the key. It always ends with `:` and the
   * entity.
   */
  readonly id: string;
  readonly entity: string;
  readonly writes: readonly Write[];
}

/** The members of an input that writes related rows, by the names of the input. */
export interface NestedParts {
  readonly connect?: string;
  readonly disconnect?: string;
  readonly create?: { readonly name: string; readonly shape: string };
  readonly connectOrCreate?: ConnectOrCreate;
  /** For a list: links exactly these rows and unlinks all others. */
  readonly set?: string;
  /**
   * `update: [{ where: { id }, data: {…} }]` of a list, with the names of both; `update: {…}` of a
   * single object.
   */
  readonly update?: {
    readonly name: string;
    readonly shape: string;
    readonly where?: string;
    readonly data?: string;
    /** Begins with the name of `where`; by `id` when absent. */
    readonly by?: RowKey;
  };
  readonly delete?: string;
  /**
   * The unique key by which items of `connect` and the other parts name a row; `id` when absent.
   */
  readonly connectBy?: RowKey;
  readonly disconnectBy?: RowKey;
  readonly setBy?: RowKey;
  readonly deleteBy?: RowKey;
}

/** The effect of one input field. */
export type Write =
  | {
      readonly kind: 'column';
      readonly name: string;
      readonly column: string;
      readonly constraint?: Constraint;
    }
  /** Sets a to-one relation by key: `authorId`. */
  | { readonly kind: 'key'; readonly name: string; readonly field: string }
  /** Sets a to-many relation by keys, which replace the whole set: `tagIds`. */
  | {
      readonly kind: 'keys';
      readonly name: string;
      readonly field: string;
      readonly constraint?: Constraint;
    }
  /**
   * `author: { connect: { id } | create: {…} }`, `tags: { connect: [...], disconnect: [...],
   * create: [...] }`.
   */
  | ({ readonly kind: 'nested'; readonly name: string; readonly field: string } & NestedParts)
  /**
   * A field that is not stored: `clientMutationId`, which the payload repeats, and fields that
   * `@computed` gives to hooks alone.
   */
  | { readonly kind: 'ignored'; readonly name: string; readonly constraint?: Constraint };
