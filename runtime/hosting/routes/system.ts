import { Readable } from 'node:stream';
import { APP_STATUSES, type HostingModel } from '@twofold/schema';
import { type Call, reply } from '@twofold/runtime/http';
import type { Logger, ServerInfo } from '@twofold/runtime/kernel';
import type { Core } from '../core.ts';
import { allStagesPrefix, instanceLabels } from '../deploy/containers.ts';
import { eventStream, type SentEvent, wantsEvents } from './sse.ts';

export interface SystemParts {
  readonly core: Core;
  readonly model: HostingModel;
  readonly info: () => Promise<ServerInfo>;
  readonly ports: () => { readonly http: number | null; readonly https: number | null };
  readonly templates: () => number;
  readonly pruneRecords: () => Promise<number>;
}

export function systemHandlers({ core, model, info, ports, templates, pruneRecords }: SystemParts) {
  return {
    async systemInfo() {
      const engine = core.connection.info();
      const [server, connected] = await Promise.all([info(), core.connection.connected()]);
      return reply(200, {
        ...server,
        engine:
          engine && connected
            ? { kind: engine.kind, version: engine.version, os: engine.os }
            : null,
        podman: connected ? 'connected' : 'disconnected',
        cpus: engine?.cpus ?? server.cpus,
        memory: engine?.memory ?? server.memory,
        apps: countApps(core),
      });
    },

    systemConfig() {
      const { engine: _engine, models, ingress: _ingress, ...limits } = model;
      return reply(200, {
        domain: model.domain,
        engine: core.connection.info()?.kind ?? model.engine.kind,
        access: model.access,
        ingress: ports(),
        limits: {
          defaults: limits.defaults,
          deploys: limits.deploys,
          build: limits.build,
          source: limits.source,
          disk_floor: limits.diskFloor,
        },
        git: model.git,
        features: {
          templates: templates(),
          tls: ports().https !== null,
          acme: model.ingress.acme.email !== null || model.ingress.acme.directory !== null,
          models: models.engine,
        },
      });
    },

    async prune(call: Call) {
      const engine = core.connection.engine();
      const prune = async (note: (step: string) => void) => {
        const pruned = await engine.images.prune({
          labels: instanceLabels(core.naming),
          cache: allStagesPrefix(core.naming),
          note,
        });
        note('removing old logs');
        return {
          images: pruned.images,
          reclaimed_bytes: pruned.reclaimed,
          records: await pruneRecords(),
        };
      };
      return wantsEvents(call)
        ? eventStream(call, stepsOf(prune, core.log))
        : reply(200, await prune(() => {}));
    },
  };
}

/** The steps of long work as events, and its result as the last one, `done`. */
function stepsOf(
  work: (note: (step: string) => void) => Promise<object>,
  log: Logger,
): AsyncIterable<SentEvent> {
  let id = 0;
  const events = new Readable({ objectMode: true, read: () => {} });
  const send = (event: string, data: object) =>
    events.push({ id: String((id += 1)), event, data: JSON.stringify(data) });
  void work((step) => send('step', { step }))
    .then((result) => send('done', result))
    .catch((error: unknown) => {
      // The response has begun with 200, so only its last event and the log can tell.
      log.error({ stack: (error as Error).stack }, 'a prune failed');
      send('failed', { error: error instanceof Error ? error.message : String(error) });
    })
    .finally(() => events.push(null));
  return events;
}

function countApps(core: Core): Record<string, number> {
  const counts = Object.fromEntries(APP_STATUSES.map((status) => [status, 0]));
  for (const { status } of core.apps.all()) counts[status] = (counts[status] ?? 0) + 1;
  return { total: core.apps.all().length, ...counts };
}
