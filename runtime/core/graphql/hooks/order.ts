type Later<T> = T | Promise<T>;
type After<Done> = (done: Done) => Later<unknown>;

/** Calls the hooks in their order. Returns the functions that they returned. */
export async function runBefore<Call, Done>(
  hooks: readonly ((call: Call) => Later<void | After<Done>>)[],
  call: Call,
): Promise<readonly After<Done>[]> {
  const after: After<Done>[] = [];
  for (const hook of hooks) {
    const returned = await hook(call);
    if (typeof returned === 'function') after.push(returned);
  }
  return after;
}

/** Calls what the hooks returned, in reverse. */
export async function runAfter<Done>(after: readonly After<Done>[], done: Done): Promise<void> {
  for (const each of after.toReversed()) await each(done);
}
