import type { AfterExecute, ExecuteCall, GraphqlHooks } from '../../plugin.ts';
import { errorsOf, refuse, type Response } from '../response.ts';
import type { Around, OperationCall } from '../service.ts';
import { HookedResult, resultOf } from './result.ts';
import { thrownByHook } from '../errors.ts';

type OnExecute = NonNullable<GraphqlHooks['onExecute']>;

/** Runs `onExecute` around each query and mutation; undefined when no plugin has it. */
export function executeHooks(plugins: readonly GraphqlHooks[]): Around | undefined {
  const hooks = plugins.flatMap(({ onExecute }) => onExecute ?? []);
  return hooks.length === 0 ? undefined : (call, run) => execute(hooks, call, run);
}

async function execute(
  hooks: readonly OnExecute[],
  call: OperationCall,
  run: () => Response | Promise<Response>,
): Promise<Response> {
  const after: AfterExecute[] = [];
  try {
    const response = (await before(hooks, call, after)) ?? (await run());
    return await afterwards(after, response, call);
  } catch (thrown) {
    // The remaining functions of `after` are told how the operation ended. They cannot change it
    // any more.
    const refused = refuse(errorsOf(thrown), call.context);
    await afterwards(after, refused, call).catch(() => {});
    throw thrown;
  }
}

/** Calls the hooks until one answers. Adds what they return to `after`. */
async function before(
  hooks: readonly OnExecute[],
  call: OperationCall,
  after: AfterExecute[],
): Promise<Response | undefined> {
  const given = executeCallOf(call);
  for (const hook of hooks) {
    const returned = await callHook(() => hook(given));
    if (typeof returned === 'function') after.push(returned);
    else if (returned) return resultOf(returned.result, call.context);
  }
  return undefined;
}

/** Calls the functions of `after` once each, by removing them from it. */
async function afterwards(
  after: AfterExecute[],
  response: Response,
  { context }: OperationCall,
): Promise<Response> {
  const done = new HookedResult(response, context);
  for (let next = after.pop(); next; next = after.pop()) {
    const replaced = await callHook(() => next(done));
    if (replaced) done.result = replaced;
  }
  return done.response;
}

/** The description of an operation that hooks get. */
export const executeCallOf = ({ operation, parameters, context }: OperationCall): ExecuteCall => ({
  document: operation.document,
  operationName: operation.node.name?.value ?? null,
  operationType: operation.node.operation,
  variables: parameters.variables,
  ctx: context,
});

type Later<T> = T | Promise<T>;
type After<Done> = (done: Done) => Later<unknown>;

/** Calls the hooks in their order. Returns the functions that they returned. */
export async function runBefore<Call, Done>(
  hooks: readonly ((call: Call) => Later<void | After<Done>>)[],
  call: Call,
): Promise<readonly After<Done>[]> {
  const after: After<Done>[] = [];
  for (const hook of hooks) {
    const returned = await callHook(() => hook(call));
    if (typeof returned === 'function') after.push(returned);
  }
  return after;
}

/** Calls what the hooks returned, in reverse. */
export async function runAfter<Done>(after: readonly After<Done>[], done: Done): Promise<void> {
  for (const each of after.toReversed()) await callHook(() => each(done));
}

/** Calls a function of a plugin. What it throws is not an error of the document. */
export async function callHook<T>(hook: () => Later<T>): Promise<T> {
  try {
    return await hook();
  } catch (error) {
    throw thrownByHook(error);
  }
}
