import {
  getNamedType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  isListType,
  getNullableType,
} from 'graphql';
import { rootName } from './engine.ts';
import { planRoots } from './plan/operation.ts';
import { type Run, runLike } from './operation-run.ts';
import { placesOf } from './parent-fields.ts';

/** Whether a field's type is the query root: `viewer: Query`, `query: Query!` in a payload. */
export const leadsToRoot = (schema: GraphQLSchema, type: GraphQLOutputType): boolean =>
  getNamedType(type) === schema.getQueryType() && !isListType(getNullableType(type));

/** Runs by the position in the document and the root field above it. */
const RUNS_BELOW = new WeakMap<Run, Map<string, Run>>();

/**
 * The query root again, below a field. Its selection is planned and read like a query, once for all
 * objects of a list. Below a mutation it is read after the write.
 */
export function rootAgain(run: Run, info: GraphQLResolveInfo): Run {
  const known = RUNS_BELOW.get(run) ?? new Map<string, Run>();
  RUNS_BELOW.set(run, known);
  const id = `${rootKey(info)} ${placesOf(info)}`;
  const made = known.get(id) ?? startAgain(run, info);
  known.set(id, made);
  return made;
}

function startAgain(run: Run, { fieldNodes }: GraphQLResolveInfo): Run {
  const { engine, planning } = run;
  const plan = planRoots(planning, 'query', rootName(engine, 'query') ?? '', fieldNodes);
  return runLike(run, { plan, shared: new Map() });
}

function rootKey({ path }: GraphQLResolveInfo): string {
  let place = path;
  while (place.prev) place = place.prev;
  return String(place.key);
}
