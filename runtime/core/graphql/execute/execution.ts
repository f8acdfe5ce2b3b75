import {
  type FieldNode,
  GraphQLError,
  type GraphQLResolveInfo,
  locatedError,
  responsePathAsArray,
} from 'graphql';
import type { Run } from '../operation-run.ts';

export type Path = GraphQLResolveInfo['path'];

/**
 * The path of a value: `path` itself, or item `index` of the list at `path`. Most items never need
 * a path of their own.
 */
export const placeAt = (path: Path, index: number): Path =>
  index === WHOLE ? path : { prev: path, key: index, typename: undefined };

/** The index of a value that is not an item of a list. */
export const WHOLE = -1;

/** One running operation. */
export interface Execution {
  readonly run: Run;
  readonly fragments: GraphQLResolveInfo['fragments'];
  readonly errors: Errors;
  /** Functions that resolvers may call through `info` while the operation runs. */
  readonly helpers: Pick<GraphQLResolveInfo, 'getAbortSignal' | 'getAsyncHelpers'>;
}

/** The errors of an operation. An error below a value that is null already is dropped. */
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

/** The place of a failed value. A required one passes its error on; any other becomes null. */
export interface ValuePosition {
  readonly nodes: readonly FieldNode[];
  readonly required: boolean;
  readonly path: Path;
}

/**
 * Adds the error to the list and returns null. A required value rethrows the error for its parent.
 */
export function nullWithError(
  { errors }: Execution,
  thrown: unknown,
  { nodes, required, path }: ValuePosition,
): null {
  const error = locatedError(thrown, nodes, responsePathAsArray(path));
  if (required) throw error;
  errors.add(error, path);
  return null;
}

/** An object or a list of the answer, which may still be incomplete. */
export type Answer = Record<string | number, unknown>;

/**
 * An empty object without the members of `Object.prototype`, because any name may become a key,
 * even `__proto__`. An object from `Object.create(null)` is slow to fill and to serialise.
 */
export const EmptyAnswer = function EmptyAnswer() {} as unknown as new () => Answer;
EmptyAnswer.prototype = Object.create(null);

/** Pending values of an answer, and the places where they belong. */
export class Waiting {
  readonly #keys: (string | number)[] = [];
  readonly #values: Promise<unknown>[] = [];

  /** Writes `value` under `key` when it resolves. Until then, null is in its place. */
  add(key: string | number, value: Promise<unknown>): this {
    this.#keys.push(key);
    this.#values.push(value);
    return this;
  }

  /** Resolves when all values have arrived. */
  finish<T extends object>(answer: T): Promise<T> {
    return Promise.all(this.#values).then((values) => {
      values.forEach((value, index) => ((answer as Answer)[this.#keys[index] as string] = value));
      return answer;
    });
  }

  /** Ignores all pending values and their failures. */
  abandon(): void {
    this.#values.forEach((value) => void value.catch(() => {}));
  }
}
