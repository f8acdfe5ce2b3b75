import type { SqliteConnection } from './sqlite-connection.ts';

/** Lets the reads of one tick of the event loop share one snapshot of the database. */
export interface SharedReads {
  /**
   * Until the next `setImmediate`, reads share a transaction. Call it when a request arrives: all
   * requests of a tick were sent before the first of them reads, so that none gets a snapshot older
   * than itself.
   */
  together(): void;
  value(sql: string, parameters: readonly unknown[]): unknown;
  /** Called before this process writes: the next read takes a new snapshot. */
  renew(): void;
}

/**
 * The most reads that share a snapshot. With more than a thousand events, the event loop may fetch
 * further ones within a tick, so a new snapshot is taken long before that.
 */
const MAX_READS = 200;

/**
 * A single read locks and unlocks the file, two system calls that cost more than finding a row by
 * its key. The requests of one tick share them.
 */
export function sharedReads(reader: SqliteConnection): SharedReads {
  let tick = false;
  let reads = 0;
  /** Results of reads without parameters, which are constant within a snapshot. */
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
      if (reads >= MAX_READS) renew();
      if (reads === 0) reader.run('begin', []);
      reads += 1;
      if (parameters.length > 0) return reader.value(sql, parameters);
      if (!known.has(sql)) known.set(sql, reader.value(sql, parameters));
      return known.get(sql);
    },
  };
}
