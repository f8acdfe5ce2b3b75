import type pg from 'pg';

/** Locks between all servers of a PostgreSQL database. */
export interface LockPool {
  lock<T>(name: string, work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/**
 * Advisory locks on connections of their own: a lock that took one from the pool of statements could
 * leave none for the code that holds it. The pool is made for the first lock.
 */
export function createLockPool(makePool: () => pg.Pool): LockPool {
  let pool: pg.Pool | undefined;
  let ended: Promise<void> | undefined;
  const open = () => {
    const made = makePool();
    // A broken connection is replaced. Without a listener, its error would end the process.
    made.on('error', () => {});
    made.on('connect', (client) => void client.on('error', () => {}));
    return made;
  };
  return {
    lock: async (name, work) => {
      pool ??= open();
      const client = await pool.connect();
      let broken = true;
      try {
        await client.query('select pg_advisory_lock(hashtextextended($1, 0))', [name]);
        const result = await work().finally(async () => {
          await client.query('select pg_advisory_unlock(hashtextextended($1, 0))', [name]);
          broken = false;
        });
        return result;
      } finally {
        client.release(broken);
      }
    },
    close: () => (ended ??= pool?.end() ?? Promise.resolve()),
  };
}
