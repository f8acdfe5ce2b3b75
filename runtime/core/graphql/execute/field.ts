import type { FieldNode, GraphQLField, GraphQLFieldResolver, GraphQLObjectType } from 'graphql';
import type { Execution, Path } from './execution.ts';
import type { Leaf } from './value.ts';

/** A field of a selection, with everything that the schema and the document say about it. */
export interface ExecutableField {
  /** Its name in the answer. */
  readonly key: string;
  /**
   * For a root field: the text of the answer before its value, with a comma unless it is the first.
   */
  readonly lead: string;
  readonly name: string;
  readonly nodes: readonly FieldNode[];
  readonly parent: GraphQLObjectType;
  readonly definition: GraphQLField<unknown, unknown>;
  readonly required: boolean;
  /** How the value is read from the parent when no resolver is called. */
  readonly reads: Reads;
  readonly resolve: GraphQLFieldResolver<unknown, unknown>;
  readonly complete: Completer;
  /** Set for the five scalars of the specification: the kind of values that need no serialising. */
  readonly leaf: Leaf | undefined;
  /** Like `leaf`, where the value is a member of the parent object; read for every object. */
  readonly member: Leaf | undefined;
  /** Whether a value that a plan read goes into the answer unchanged. */
  readonly planned: boolean;
}

export interface Reads {
  /** In an object that a plan read: under the field's key in the answer. */
  readonly fromTree: boolean;
  /** In any other object: the member with the field's name, unless it is a function. */
  readonly fromMember: boolean;
  readonly typename: boolean;
}

/**
 * Turns the result of a resolver into a value of the answer, or a promise of one. Throws where
 * graphql-js would. `path` and `index` locate the value, see `placeAt`.
 */
export type Completer = (
  execution: Execution,
  field: ExecutableField,
  value: unknown,
  path: Path,
  index: number,
) => unknown;

/** The fields of an object in the order of the answer. */
export type Fields = readonly ExecutableField[];
