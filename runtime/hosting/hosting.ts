import { join } from 'node:path';
import { hostingRoutes, type HostingModel, modelRoutes } from '@twofold/schema';
import { bindRoutes } from '../http/route.ts';
import type { Kernel, ServerModule } from '../module.ts';
import { type AuditLog, createAuditLog } from './audit.ts';
import { createCore } from './create-core.ts';
import { createBuildLogs } from './deploy/build-logs.ts';
import { createBuilder } from './deploy/builder.ts';
import { networkName } from './deploy/containers.ts';
import { createDeployer } from './deploy/deployer.ts';
import { createLifecycle } from './deploy/lifecycle.ts';
import { createHealthWatch } from './deploy/health-watch.ts';
import { createPulse } from './deploy/pulse.ts';
import { createReconciler } from './deploy/reconciler.ts';
import { createSourceDeploys } from './deploy/source-deploys.ts';
import { createSupervisor } from './deploy/supervisor.ts';
import { createAppBook } from './records/app-book.ts';
import { connectEngine } from './engine/connect.ts';
import { createModels, type Models } from './models/models.ts';
import { createOperator, type OperatorOptions } from './operator/operator.ts';
import { hostingMigrations } from './records/migrations.ts';
import { pruneRecords } from './records/prune.ts';
import { createSeal } from './records/seal.ts';
import { sealingSecrets } from './records/sealing-secrets.ts';
import { appHandlers } from './routes/apps.ts';
import { guarded } from './routes/bind.ts';
import { certificateHandlers } from './routes/certificates.ts';
import { deploymentHandlers } from './routes/deployments.ts';
import { logHandlers } from './routes/logs.ts';
import { runtimeHandlers } from './routes/runtime.ts';
import { settingHandlers } from './routes/settings.ts';
import { sourceHandlers, type SourceParts } from './routes/sources.ts';
import { systemHandlers } from './routes/system.ts';
import { templateHandlers } from './routes/templates.ts';
import { webhookHandlers } from './routes/webhooks.ts';
import { createStatsReader } from './stats.ts';
import type { Template } from './templates/template.ts';
import { loadTemplates } from './templates/templates.ts';

export interface HostingOptions {
  readonly kernel: Kernel;
  readonly model: HostingModel;
}

/** Milliseconds that running requests have when the server stops. */
const CLOSE = 10_000;
const VERSION = '0.1.0';

/**
 * The container app hosting API: apps, deployments, the way in to them, and what keeps them running.
 *
 * @throws ConfigError when a template of the project's own is wrong.
 * @example
 * const hosting = await createHosting({ kernel, model: project.hosting });
 */
export async function createHosting({ kernel, model }: HostingOptions): Promise<ServerModule> {
  const { store, now, root } = kernel;
  const templates = await loadTemplates(join(root, model.templates));
  const seal = createSeal(sealingSecrets(kernel.settings, root));
  const core = createCore(kernel, { model, seal, apps: createAppBook({ store, seal, now }) });
  const audit = createAuditLog({ store, now });
  const models = createModels({ kernel, model, audit, events: core.events });
  const operator = createOperator({ kernel, specs: [...hostingRoutes, ...modelRoutes], ...createWork(kernel, core, models) });
  const handlers = { ...guarded(createHandlers(kernel, core, { audit, templates }), audit), ...models.handlers };
  core.apps.onChange(() => core.certificates.wake());
  core.apps.onChange((app) => core.events.emit('app', { app: app.name, status: app.status, deployment: app.deployment }));
  return {
    name: 'hosting',
    migrations: hostingMigrations,
    routes: bindRoutes([...hostingRoutes, ...modelRoutes], operator.handlers(handlers)),
    async health() {
      const seen = operator.operates() ? await core.engineState() : await lookAtEngine(kernel, model);
      return { ...seen, version: VERSION, timestamp: new Date(now()).toISOString() };
    },
    async start() {
      await core.nameInstance(store);
      await core.apps.load();
      await operator.start();
    },
    stop: () => operator.stop(),
  };
}

type WholeCore = ReturnType<typeof createCore>;

/** What runs beside the calls, while this process operates. */
function createWork({ log }: Kernel, core: WholeCore, models: Models): Pick<OperatorOptions, 'begin' | 'end'> {
  const supervisor = createSupervisor(core);
  const reconciler = createReconciler(core, supervisor);
  const pulse = createPulse(core, supervisor.onDeath);
  const health = createHealthWatch(core, async (app, id, detail) => {
    log.warn(`${app.name} is not well and is started again: ${detail}`);
    await core.connection.engine().stop(id, 5);
    supervisor.onDeath(app, id);
  });
  core.wire({ onConnect: () => reconciler.recover(), onEvent: (event) => supervisor.onEvent(event) });
  return {
    async begin() {
      await core.apps.load();
      await core.listen();
      await core.certificates.load();
      await core.connection.start();
      for (const part of [reconciler, pulse, health, core.certificates]) part.start();
      await models.start();
      log.info(`hosting apps at *.${core.model.domain}, port ${core.ports().http}`);
    },
    async end() {
      await Promise.all([pulse.stop(), health.stop(), core.certificates.stop(), reconciler.stop(), supervisor.stop()]);
      await Promise.all([core.operations.stop(), models.stop()]);
      await core.ingress.close(CLOSE);
      // The last app's network is nobody's: engines have few to give.
      if (core.apps.all().length === 0 && core.connection.info()) await core.connection.engine().removeNetwork(networkName(core.naming)).catch(() => {});
      await core.connection.stop();
    },
  };
}

function createHandlers({ store, now, root }: Kernel, core: WholeCore, { audit, templates }: { readonly audit: AuditLog; readonly templates: ReadonlyMap<string, Template> }) {
  const { model, vault, addressOf, certificates } = core;
  const buildLogs = createBuildLogs();
  const sources = createSourceDeploys(core, createBuilder(core, buildLogs), buildLogs);
  const parts: SourceParts = { core, model, buildLogs, sources, vault, addressOf, deployer: createDeployer(core), lifecycle: createLifecycle(core) };
  return {
    ...appHandlers(parts),
    ...settingHandlers(parts),
    ...deploymentHandlers(parts),
    ...sourceHandlers(parts),
    ...webhookHandlers(parts, { store, audit }),
    ...certificateHandlers(core, certificates),
    ...logHandlers(core),
    ...runtimeHandlers(core, createStatsReader(core)),
    ...templateHandlers(parts, templates),
    ...systemHandlers({ core, model, audit, root, startedAt: now(), ports: core.ports, templates: () => templates.size, pruneRecords: () => pruneRecords(store, { now: now(), keep: model.deploys.keep }) }),
  };
}

/** A process that passes its calls on looks at the engine itself, without keeping anything. */
async function lookAtEngine({ settings }: Kernel, { engine }: HostingModel): Promise<{ podman: string; engine: string | null }> {
  try {
    return { podman: 'connected', engine: (await connectEngine(engine, settings.env)).kind };
  } catch {
    return { podman: 'disconnected', engine: null };
  }
}
