/**
 * Waits until the server before this one has let go of what only one of them can have. `generator dev` puts the function
 * there; any other server has none before it.
 */
export async function handOver(): Promise<void> {
  const ready: unknown = Reflect.get(globalThis, Symbol.for('twofold.handover'));
  if (typeof ready === 'function') await ready();
}
