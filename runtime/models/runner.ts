import { failure } from '@twofold/runtime/errors';
import type { Logger, Store } from '@twofold/runtime/kernel';
import { notDownloaded } from './download/downloads.ts';
import type { ModelStore } from './download/model-store.ts';
import type { Chooser } from './engine/choose.ts';
import type { EngineName, ModelEngine } from './engine/engine.ts';
import { assertMemory } from './memory.ts';
import type { LocalModel, Model } from './model.ts';
import type { Supervisor } from './supervisor.ts';

/** Starts and stops models on request, and stores which one should run. */
export interface Runner {
  /**
   * @throws AppError 404, 409 when the model is not downloaded or has another format, 502 when it
   * cannot be loaded, 503 without an engine, 507 without enough memory.
   */
  start(id: string): Promise<void>;
  stop(): Promise<void>;
  /** Starts in the background the model that ran when the server ended. */
  resume(): void;
  /** Stops the model. The next start of the server runs it again. */
  leave(): Promise<void>;
  /** The engine of the running model. */
  engine(): EngineName;
  /** The models of the attached server, if the running model is one of them. */
  remote(): Promise<readonly string[]> | null;
}

export interface RunnerOptions {
  readonly store: Store;
  readonly log: Logger;
  readonly modelStore: ModelStore;
  readonly supervisor: Supervisor;
  readonly choose: Chooser;
  readonly catalogue: ReadonlyMap<string, Model>;
  readonly memory: () => number;
  /** The id of this machine, because each machine has its own disk and its own running model. */
  readonly node: string;
}

export function createRunner({
  store,
  log,
  modelStore,
  supervisor,
  choose,
  catalogue,
  memory,
  node,
}: RunnerOptions): Runner {
  const key = `model@${node}`;
  let running: ModelEngine | null = null;

  return {
    async start(id) {
      await begin(id);
      await remember(id);
    },
    async stop() {
      await remember(null);
      await supervisor.stop();
    },
    resume() {
      void remembered()
        .then((id) => (id === undefined ? undefined : begin(id)))
        .catch((error: Error) =>
          log.error(`the model that ran before cannot be started: ${error.message}`),
        );
    },
    leave: () => supervisor.stop(),
    engine: () => running?.name ?? 'llamacpp',
    remote: () => running?.models?.().then((list) => list.map(({ id }) => id)) ?? null,
  };

  async function begin(id: string): Promise<void> {
    const { engine, reason } = await choose();
    if (!engine) throw failure.unavailable(`No model can run here: ${reason}`);
    const model = engine.models ? remoteModel(id) : await local(id, engine);
    running = engine;
    await supervisor.start(engine, model);
  }

  async function local(id: string, engine: ModelEngine): Promise<LocalModel> {
    const model = (await modelStore.models()).get(id);
    if (!model) throw catalogue.has(id) ? notDownloaded(id) : failure.notFound('Model not found');
    if (!engine.formats.includes(model.format))
      throw failure.conflict(
        `${id} is ${model.format}, and the engine here (${engine.name}) runs ${engine.formats.join(', ')}`,
      );
    const running = supervisor.now().model;
    if (running?.id !== id) assertMemory(model, memory(), running);
    return model;
  }

  async function remember(id: string | null): Promise<void> {
    await store.transaction(async (trx) => {
      await trx.deleteFrom('hosting_settings').where('key', '=', key).execute();
      if (id !== null)
        await trx.insertInto('hosting_settings').values({ key, value: id }).execute();
    });
  }

  async function remembered(): Promise<string | undefined> {
    const row = await store.db
      .selectFrom('hosting_settings')
      .select('value')
      .where('key', '=', key)
      .executeTakeFirst();
    return row?.['value'] as string | undefined;
  }
}

/** A model of an attached server, without files on this machine. */
const remoteModel = (id: string): LocalModel => ({
  id,
  format: 'gguf',
  path: '',
  size: 0,
  context: null,
});
