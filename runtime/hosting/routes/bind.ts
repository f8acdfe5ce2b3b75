import { asFullDisk } from '../full-disk.ts';
import type { Call, Handler } from '@twofold/runtime/http';

/** The handlers of routes, by the id of the route. */
export type Handlers = Readonly<Record<string, Handler>>;

/** Turns a full disk into 507 in each handler. */
export function sayingFullDisk<T extends Handlers>(handlers: T): T {
  const entries = Object.entries(handlers).map(([id, handle]) => [
    id,
    async (call: Call) => {
      try {
        return await handle(call);
      } catch (error) {
        return asFullDisk(error);
      }
    },
  ]);
  return Object.fromEntries(entries) as T;
}
