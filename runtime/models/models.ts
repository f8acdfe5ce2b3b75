import { hostname, totalmem } from 'node:os';
import { join } from 'node:path';
import type { HostingModel } from '@twofold/schema';
import type { Kernel } from '@twofold/runtime/kernel';
import type { EventHub } from '@twofold/hosting';
import { CATALOGUE } from './catalogue.ts';
import { Downloads } from './download/downloads.ts';
import { Hub } from './download/hub.ts';
import { createModelStore } from './download/model-store.ts';
import { contextOf, createChooser } from './engine/choose.ts';
import { type AdmissionParts, createAdmission } from './gateway/admission.ts';
import { createFigures } from './gateway/figures.ts';
import type { ModelState } from './flows/flow.ts';
import { createBudgetStore } from './keys/budget-store.ts';
import { createModelKeys } from './keys/model-keys.ts';
import { createPrices, type Price, createUsageTable } from './keys/usage-table.ts';
import { readListed } from './listed.ts';
import { createGateway } from './gateway/gateway.ts';
import { createRunner } from './runner.ts';
import { createAccess, createFind } from './pool/find-model.ts';
import { createGpus, hasOwnMemory } from './pool/gpus.ts';
import { ModelPool } from './pool/model-pool.ts';
import { createRoom } from './pool/room.ts';
import { Supervisor } from './supervisor.ts';

export interface ModelsOptions {
  readonly kernel: Kernel;
  readonly model: HostingModel;
  readonly events: EventHub;
  /** Values that a test sets instead of those of the machine. */
  readonly machine?: Partial<Machine>;
}

/** Properties of the machine. */
export interface Machine {
  /** Available memory in bytes. */
  readonly memory: () => number;
  /** Free disk space in bytes. */
  readonly disk: () => Promise<number>;
  /** Milliseconds to wait after the first broken connection or crash. */
  readonly pause: number;
}

/** Local language models, started and stopped with the server. */
export interface Models {
  /** What their flows use. */
  readonly state: ModelState;
  /** Resumes unfinished downloads, and starts the model that ran before. */
  start(): Promise<void>;
  /** Stops the model and the downloads. Partial downloads are kept. */
  stop(): Promise<void>;
}

const DEFAULT_HUB = 'https://huggingface.co';
const FIRST_PAUSE = 1000;
/** `hosting.models.loaded`, where the manifest has none. */
const LOADED = { max: 3, memory: 'auto', gpuMemory: 'auto', idle: 15 * 60_000 } as const;

/**
 * Creates the language models of a server. Settings that are wrong are reported to
 * `kernel.settings`.
 *
 * @example
 * const models = createModels({ kernel, model: project.hosting, events });
 * bindFlows(modelFlows, models.state);
 */
export function createModels(options: ModelsOptions): Models {
  const { kernel, model, events, machine = {} } = options;
  const { settings, log, now, root, store } = kernel;
  const modelStore = createModelStore(join(root, model.models.directory));
  const hub = new Hub({ endpoint: endpointOf(kernel), token: settings.text('HF_TOKEN') });
  const catalogue = catalogueOf(kernel, model);
  const downloads = new Downloads({
    hub,
    modelStore,
    log,
    pause: machine.pause ?? FIRST_PAUSE,
    floor: model.diskFloor,
    maxSize: model.models.maxSize,
    free: machine.disk ?? modelStore.free,
    onChange: (id, status) => events.emit('model', progressOf(downloads, id, status)),
  });
  const { engine, aliases = {}, fallbacks = {}, allow = ['*'] } = model.models;
  const context = contextOf(settings);
  const choose = createChooser({ wanted: engine, settings, log, root, context, now });
  const memory = machine.memory ?? (() => process.availableMemory());
  const gpus = createGpus(settings.env);
  const figures = createFigures(kernel.metrics);
  const find = createFind({ modelStore, choose, catalogue });
  const pool = poolOf(options, { find, gpus, memory, figures });
  const runner = createRunner({ store, log, pool, node: hostname() });
  const accounts = createAccounts(kernel, model.models.prices ?? {});
  const gateway = createGateway({
    access: createAccess({ modelStore, choose, catalogue, pool, aliases, fallbacks }),
    admission: createAdmission({ ...accounts, log, now }),
    figures,
    context,
  });
  return {
    state: {
      ...{ modelStore, downloads, pool, choose, catalogue, runner, gateway, gpus, memory, allow },
      ...{ ...accounts, now },
    },
    async start() {
      await downloads.resume();
      runner.resume();
    },
    async stop() {
      await downloads.stop();
      await pool.close();
      accounts.budgets.stop();
      await hub.close();
    },
  };
}

/** The built-in models, and those that the manifest lists. */
function catalogueOf({ settings }: Kernel, { models }: HostingModel) {
  const listed = readListed(models.list, settings.problem);
  return new Map([...CATALOGUE, ...listed].map((entry) => [entry.id, entry]));
}

/** What the event `model` says of a download. */
function progressOf(downloads: Downloads, id: string, status: string) {
  const error = downloads.problem(id);
  return {
    model: id,
    status,
    ...downloads.progress(id),
    ...(error !== undefined && { error }),
  };
}

interface PoolParts {
  readonly find: ReturnType<typeof createFind>;
  readonly gpus: ReturnType<typeof createGpus>;
  readonly memory: () => number;
  readonly figures: ReturnType<typeof createFigures>;
}

/** The models that are loaded, each with its supervisor. */
function poolOf(
  { kernel, model, events, machine = {} }: ModelsOptions,
  { find, gpus, memory, figures }: PoolParts,
) {
  const { log, now } = kernel;
  const pause = machine.pause ?? FIRST_PAUSE;
  const loaded = model.models.loaded ?? LOADED;
  return new ModelPool({
    max: loaded.max,
    idle: loaded.idle,
    now,
    figures,
    async find(id) {
      await gpus.look();
      return find(id);
    },
    room: createRoom({
      ...{ memory, total: totalMemory, limits: loaded, look: gpus.lookAgain },
      gpus: () => gpus.now().filter(hasOwnMemory),
    }),
    supervise: (onChange) =>
      new Supervisor({
        ...{ log, now, pause },
        onChange(state) {
          events.emit('model', { model: state.model?.id ?? null, status: state.state });
          onChange(state);
        },
      }),
  });
}

/** Bytes that this process may use: those of the machine, or of the container that it runs in. */
function totalMemory(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(totalmem(), constrained) : totalmem();
}

/** Keys, their budgets, and what was used. */
function createAccounts(
  { store, log, now }: Kernel,
  prices: Readonly<Record<string, Price>>,
): Pick<AdmissionParts, 'keys' | 'budgets' | 'usage' | 'prices'> {
  return {
    keys: createModelKeys(store, now),
    budgets: createBudgetStore(store, { log, now }),
    usage: createUsageTable(store, now),
    prices: createPrices(prices),
  };
}

function endpointOf({ settings }: Kernel): URL {
  const text = settings.text('HF_ENDPOINT', DEFAULT_HUB);
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url && ['http:', 'https:'].includes(url.protocol)) return url;
  settings.problem('HF_ENDPOINT must be an address such as https://huggingface.co');
  return new URL(DEFAULT_HUB);
}
