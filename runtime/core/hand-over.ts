/**
 * Waits until the previous server has released its ports. `generator dev` sets the function; other
 * servers have no predecessor.
 */
export async function handOver(): Promise<void> {
  const ready: unknown = Reflect.get(globalThis, Symbol.for('twofold.handover'));
  if (typeof ready === 'function') await ready();
}
