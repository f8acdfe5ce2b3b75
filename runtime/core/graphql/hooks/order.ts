import { thrownByHook } from '../errors.ts';

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
