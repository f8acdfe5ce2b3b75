import { AsyncLocalStorage } from 'node:async_hooks';
import { createMutex, type Mutex } from './semaphore.ts';

type Lock = <T>(name: string, work: () => Promise<T>, patience?: number) => Promise<T>;

interface Turn {
  readonly mutex: Mutex;
  /** Code that holds or awaits the mutex. */
  users: number;
}

/**
 * Adds a lock within this process to a lock between processes, so that only one caller at a time
 * asks for the latter. Code inside the lock may ask for the same name again.
 */
export function reentrant(lock: Lock): Lock {
  const held = new AsyncLocalStorage<ReadonlySet<string>>();
  const turns = new Map<string, Turn>();
  return async (name, work, patience) => {
    const names = held.getStore();
    if (names?.has(name)) return work();
    const turn = turns.get(name) ?? { mutex: createMutex(), users: 0 };
    turns.set(name, turn);
    turn.users += 1;
    const release = await turn.mutex.acquire();
    try {
      const inside = () => held.run(new Set([...(names ?? []), name]), work);
      return await lock(name, inside, patience);
    } finally {
      release();
      turn.users -= 1;
      if (turn.users === 0) turns.delete(name);
    }
  };
}
