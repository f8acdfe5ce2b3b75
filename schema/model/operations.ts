import type { AuthRule } from './access.ts';
import type { ListOptions } from './lists.ts';
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
  | { readonly kind: 'list'; readonly entity: string; readonly list: ListOptions }
  /** A list over an interface or union of entities. */
  | { readonly kind: 'listAbstract'; readonly type: string; readonly list: ListOptions }
  /** `node(id: ID!): Node`. */
  | { readonly kind: 'node'; readonly arg: string }
  | {
      readonly kind: 'create';
      readonly entity: string;
      readonly write: string;
      readonly input?: string;
      readonly returns: Returns;
    }
  | {
      readonly kind: 'update';
      readonly entity: string;
      readonly id: ArgumentPath;
      readonly write: string;
      readonly input?: string;
      readonly returns: Returns;
    }
  | {
      readonly kind: 'remove';
      readonly entity: string;
      readonly id: ArgumentPath;
      readonly returns: Returns;
    }
  | {
      readonly kind: 'subscribe';
      readonly entity: string;
      readonly on: readonly ChangeKind[];
      readonly id?: string;
    }
  | { readonly kind: 'custom' };

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
  | {
      readonly kind: 'payload';
      readonly type: string;
      readonly entity?: string;
      readonly id?: string;
      readonly ok?: string;
      readonly clientMutationId?: string;
      /** Lists of errors, which are empty on success: `errors`, `userErrors`. */
      readonly empty?: readonly string[];
    };

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

/** What one input field writes. */
export type Write =
  | {
      readonly kind: 'column';
      readonly name: string;
      readonly column: string;
      readonly constraint?: Constraint;
    }
  /** To-one by key: `authorId`. */
  | { readonly kind: 'key'; readonly name: string; readonly field: string }
  /** To-many by keys, which replace the whole set: `tagIds`. */
  | { readonly kind: 'keys'; readonly name: string; readonly field: string }
  /**
   * `author: { connect: { id } | create: {…} }`, `tags: { connect: [...], disconnect: [...],
   * create: [...] }`.
   */
  | {
      readonly kind: 'nested';
      readonly name: string;
      readonly field: string;
      readonly connect?: string;
      readonly disconnect?: string;
      readonly create?: { readonly name: string; readonly shape: string };
    }
  /** Copied to the payload: `clientMutationId`; it is not stored. */
  | { readonly kind: 'ignored'; readonly name: string };
