import {
  type FieldNode,
  GraphQLError,
  type GraphQLResolveInfo,
  locatedError,
  responsePathAsArray,
} from 'graphql';
import type { Run } from '../run.ts';
import type { ExecutableField } from './field.ts';

export type Path = GraphQLResolveInfo['path'];

/** Where a value stands: at a path, or as the item `index` of the list at that path. Most items never need a path of their own. */
export const placeAt = (path: Path, index: number): Path =>
  index === WHOLE ? path : { prev: path, key: index, typename: undefined };

/** The index of a value that is no item. */
export const WHOLE = -1;

/** One operation under way. */
export interface Execution {
  readonly run: Run;
  readonly fragments: GraphQLResolveInfo['fragments'];
  readonly errors: Errors;
  /** What resolvers may ask of `info` while the operation runs. */
  readonly helpers: Pick<GraphQLResolveInfo, 'getAbortSignal' | 'getAsyncHelpers'>;
}

/** The errors of an operation. What fails below a place that is null already is left out. */
export interface Errors {
  readonly list: readonly GraphQLError[];
  add(error: GraphQLError, path: Path | undefined): void;
}

export function createErrors(): Errors {
  const list: GraphQLError[] = [];
  let places: Set<Path | undefined> | undefined;
  return {
    list,
    add: (error, path) => {
      places ??= new Set();
      if (isBelow(places, path)) return;
      places.add(path);
      list.push(error);
    },
  };
}

function isBelow(places: ReadonlySet<Path | undefined>, path: Path | undefined): boolean {
  for (let place = path; place; place = place.prev) if (places.has(place)) return true;
  return places.has(undefined);
}

/** The place of a failure: what is there if it can be null, and how the error finds its way. */
export interface Place {
  readonly nodes: readonly FieldNode[];
  readonly required: boolean;
  readonly path: Path;
}

/** Null with an error in the list; where null may not be, the error goes on to the place above. */
export function nullWithError(
  { errors }: Execution,
  thrown: unknown,
  { nodes, required, path }: Place,
): null {
  const error = locatedError(thrown, nodes, responsePathAsArray(path));
  if (required) throw error;
  errors.add(error, path);
  return null;
}

/** The fourth argument of a resolver. */
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
