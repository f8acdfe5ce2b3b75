import {
  type FieldNode,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLObjectType,
  GraphQLBoolean,
  GraphQLFloat,
  GraphQLID,
  GraphQLInt,
  GraphQLString,
  type GraphQLType,
  type GraphQLResolveInfo,
} from 'graphql';
import type { Execution, Path } from './execution.ts';

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

export const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as { then?: unknown }).then === 'function';

/** A resolver may return an error instead of throwing it. */
export function assertNoError<T>(value: T): T {
  if (value instanceof Error) throw value;
  return value;
}

/** The kinds of values that the scalars of the specification serialise unchanged. */
type Leaf = 'text' | 'integer' | 'number' | 'truth';

export function leafOf(type: GraphQLType): Leaf | undefined {
  if (type === GraphQLString || type === GraphQLID) return 'text';
  if (type === GraphQLInt) return 'integer';
  if (type === GraphQLFloat) return 'number';
  return type === GraphQLBoolean ? 'truth' : undefined;
}

/** Returns a value that needs no serialising; undefined for one that the scalar must convert. */
export function leafValue(leaf: Leaf, value: unknown): string | number | boolean | undefined {
  if (typeof value === 'string') return leaf === 'text' ? value : undefined;
  if (typeof value === 'number')
    return (leaf === 'integer' && (value | 0) === value) ||
      (leaf === 'number' && Number.isFinite(value))
      ? value
      : undefined;
  return typeof value === 'boolean' && leaf === 'truth' ? value : undefined;
}

/**
 * Fails at the field whose value JSON cannot represent, instead of failing for the whole answer.
 * @throws TypeError
 */
export function assertJson<T>(value: T): T {
  if (typeof value === 'object' || typeof value === 'bigint') JSON.stringify(value);
  return value;
}

/** Makes `info`, the fourth argument of a resolver. */
export function resolveInfo(
  { run, fragments, helpers }: Execution,
  { definition, nodes, parent }: ExecutableField,
  path: Path,
): GraphQLResolveInfo {
  return {
    fieldName: definition.name,
    fieldNodes: nodes,
    returnType: definition.type,
    parentType: parent,
    path,
    schema: run.engine.schema,
    fragments,
    rootValue: run,
    operation: run.operation.node,
    variableValues: run.variables,
    getAbortSignal: helpers.getAbortSignal,
    getAsyncHelpers: helpers.getAsyncHelpers,
  };
}
