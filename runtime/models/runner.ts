import type { Logger, Store } from '@twofold/runtime/kernel';
import type { ModelPool } from './pool/model-pool.ts';

/** Starts and stops models on request, and stores which ones should run. */
export interface Runner {
  /**
   * @throws AppError 404, 409 when the model is not downloaded or has another format, 502 when it
   * cannot be loaded, 503 without an engine or without room, 507 without enough memory.
   */
  start(id: string): Promise<void>;
  /** Stops one model, or all. @returns the ids of those that ran */
  stop(id?: string): Promise<readonly string[]>;
  /** Starts in the background the models that were started when the server ended. */
  resume(): void;
}

export interface RunnerOptions {
  readonly store: Store;
  readonly log: Logger;
  readonly pool: ModelPool;
  /** The id of this machine, because each machine has its own disk and its own running models. */
  readonly node: string;
}

export function createRunner({ store, log, pool, node }: RunnerOptions): Runner {
  const key = `model@${node}`;
  return {
    async start(id) {
      await pool.start(id);
      await remember((ids) => [...ids.filter((each) => each !== id), id]);
    },
    async stop(id) {
      await remember((ids) => (id === undefined ? [] : ids.filter((each) => each !== id)));
      return pool.stop(id);
    },
    resume() {
      void remembered().then(async (ids) => {
        for (const id of ids)
          await pool
            .start(id)
            .catch((error: Error) =>
              log.error(`${id} ran before and cannot be started: ${error.message}`),
            );
      });
    },
  };

  async function remember(change: (ids: readonly string[]) => readonly string[]): Promise<void> {
    await store.transaction(async (trx) => {
      const ids = change(await remembered());
      await trx.deleteFrom('hosting_settings').where('key', '=', key).execute();
      if (ids.length > 0)
        await trx
          .insertInto('hosting_settings')
          .values({ key, value: ids.join('\n') })
          .execute();
    });
  }

  /** Ids contain no line break. An earlier version stored one id. */
  async function remembered(): Promise<readonly string[]> {
    const row = await store.db
      .selectFrom('hosting_settings')
      .select('value')
      .where('key', '=', key)
      .executeTakeFirst();
    return row ? (row['value'] as string).split('\n') : [];
  }
}
