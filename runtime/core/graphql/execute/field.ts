import type { FieldNode, GraphQLField, GraphQLFieldResolver, GraphQLObjectType } from 'graphql';
import type { Execution, Path } from './execution.ts';
import type { Leaf } from './value.ts';

/** A field of a selection, with everything that the schema and the document say about it. */
export interface ExecutableField {
  /** Its name in the answer. */
  readonly key: string;
  /** Of a root field: the answer's text before its value, with a comma unless it is the first. */
  readonly lead: string;
  readonly name: string;
  readonly nodes: readonly FieldNode[];
  readonly parent: GraphQLObjectType;
  readonly definition: GraphQLField<unknown, unknown>;
  readonly required: boolean;
  /** Where the value is, when no function has to be asked for it. */
  readonly reads: Reads;
  readonly resolve: GraphQLFieldResolver<unknown, unknown>;
  readonly complete: Completer;
  /** Of the specification's own scalars: which values are written as they are. */
  readonly leaf: Leaf | undefined;
  /** The same, where the member of an object is the value: it is asked of every object. */
  readonly member: Leaf | undefined;
  /** Whether what a plan read is the answer's own. */
  readonly planned: boolean;
}

export interface Reads {
  /** Of an object that a plan read: under the key of the answer. */
  readonly fromTree: boolean;
  /** Of any other object: the member of that name, unless it is a function. */
  readonly fromMember: boolean;
  readonly typename: boolean;
}

/**
 * Makes what a resolver returned the answer's own, or a promise of that. Throws where graphql-js would. `path` and `index`
 * say where the value stands, see `placeAt`.
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
