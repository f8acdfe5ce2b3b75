import type { SqliteConnection } from './sqlite-connection.ts';

/** Reads of one tick of the event loop, from one state of the database. */
export interface SharedReads {
  /**
   * From now until the next `setImmediate`, reads share a transaction. To be called when a request arrives: the requests of a
   * tick are sent before the first of them reads, so that none gets a state older than itself.
   */
  together(): void;
  value(sql: string, parameters: readonly unknown[]): unknown;
  /** This process is about to write: the next read takes a new state. */
  renew(): void;
}

/** The loop may fetch more events within a tick when there are more than a thousand; long before, a new state is taken. */
const MOST = 200;

/**
 * A read of its own takes a lock of the file and gives it back, two calls of the system that cost more than finding a row
 * by its key. The requests of one tick share them.
 */
export function sharedReads(reader: SqliteConnection): SharedReads {
  let tick = false;
  let reads = 0;
  /** Answers to reads without parameters: in one state of the database they stay what they are. */
  const known = new Map<string, unknown>();
  const renew = () => {
    if (reads > 0 && reader.inTransaction()) reader.run('commit', []);
    reads = 0;
    known.clear();
  };
  const end = () => {
    tick = false;
    renew();
  };
  return {
    renew,
    together: () => {
      if (tick) return;
      tick = true;
      setImmediate(end);
    },
    value: (sql, parameters) => {
      if (!tick) return reader.value(sql, parameters);
      if (reads >= MOST) renew();
      if (reads === 0) reader.run('begin', []);
      reads += 1;
      if (parameters.length > 0) return reader.value(sql, parameters);
      if (!known.has(sql)) known.set(sql, reader.value(sql, parameters));
      return known.get(sql);
    },
  };
}
