import { Readable } from 'node:stream';
import { APP_STATUSES } from '@twofold/schema';
import { reply } from '@twofold/runtime/http';
import type { Logger } from '@twofold/runtime/kernel';
import { allStagesPrefix, instanceLabels } from '../host/containers.ts';
import type { HostedApp } from '../records/app.ts';
import { pruneRecords } from '../records/prune.ts';
import { eventStream, type SentEvent, wantsEvents } from './event-stream.ts';
import { flow, ON_ENGINE, USUAL } from './flow.ts';

export const systemInfo = flow('GET /api/system/info', {
  needs: 'system:read',
  summary: 'Describes the server, its engine and its machine',
  answers: { 200: ['The description'] },
  refuses: USUAL,
  async handle(_call, { apps, connection, serverInfo }) {
    const engine = connection.info();
    const [server, connected] = await Promise.all([serverInfo(), connection.connected()]);
    return reply(200, {
      ...server,
      engine:
        engine && connected ? { kind: engine.kind, version: engine.version, os: engine.os } : null,
      podman: connected ? 'connected' : 'disconnected',
      cpus: engine?.cpus ?? server.cpus,
      memory: engine?.memory ?? server.memory,
      apps: countApps(apps.all()),
    });
  },
});

export const systemConfig = flow('GET /api/system/config', {
  needs: 'system:read',
  summary: 'Returns the root domain, limits and features',
  answers: { 200: ['The settings, without secrets'] },
  refuses: USUAL,
  handle(_call, { connection, model, ports, templates }) {
    const { domain, access, defaults, deploys, build, source, diskFloor, git, ingress } = model;
    return reply(200, {
      domain,
      engine: connection.info()?.kind ?? model.engine.kind,
      access,
      ingress: ports(),
      limits: { defaults, deploys, build, source, disk_floor: diskFloor },
      git,
      features: {
        templates: templates.size,
        tls: ports().https !== null,
        acme: ingress.acme.email !== null || ingress.acme.directory !== null,
        models: model.models.engine,
      },
    });
  },
});

export const prune = flow('POST /api/system/prune', {
  needs: 'system:write',
  summary: 'Removes unused images, build cache and old logs',
  answers: { 200: ['The removed images and the reclaimed bytes'] },
  refuses: ON_ENGINE,
  async handle(call, leader) {
    const { audit, connection, log, model, naming, now, store } = leader;
    const engine = connection.engine();
    const work = async (note: (step: string) => void) => {
      const pruned = await engine.images.prune({
        labels: instanceLabels({ naming }),
        cache: allStagesPrefix({ naming }),
        note,
      });
      note('removing old logs');
      const records = await pruneRecords(store, { now: now(), keep: model.deploys.keep });
      return {
        images: pruned.images,
        reclaimed_bytes: pruned.reclaimed,
        records: records + ((await audit?.prune()) ?? 0),
      };
    };
    return wantsEvents(call)
      ? eventStream(call, stepsOf(work, log))
      : reply(200, await work(() => {}));
  },
});

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

function countApps(apps: readonly HostedApp[]): Record<string, number> {
  const counts = Object.fromEntries(APP_STATUSES.map((status) => [status, 0]));
  for (const { status } of apps) counts[status] = (counts[status] ?? 0) + 1;
  return { total: apps.length, ...counts };
}
