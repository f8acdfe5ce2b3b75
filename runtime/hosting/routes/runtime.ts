import { failure } from '@twofold/runtime/errors';
import { type Call, reply } from '@twofold/runtime/http';
import type { Core } from '../core.ts';
import { listReplicas } from '../deploy/containers.ts';
import type { ExecOptions, ExecResult } from '../engine/engine.ts';
import { EngineError } from '../engine/errors.ts';
import type { HostedApp } from '../records/app.ts';
import { renderRequestMetrics } from '../request-metrics.ts';
import { renderMetrics, type StatsReader } from '../stats.ts';
import { eventStream } from './sse.ts';

const EXEC_LIMIT = 1024 * 1024;
const EXEC_TIMEOUT_S = 30;
const PROMETHEUS = { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' };

/** Routes about running apps: usage, metrics, commands and events. */
export function runtimeHandlers(core: Core, stats: StatsReader) {
  const named = ({ params }: Call) => core.apps.byName(params['name'] as string);
  return {
    async appStats(call: Call) {
      const app = named(call);
      const replicas = await stats.read(app);
      const sum = (field: 'memory_bytes' | 'network_in_bytes' | 'network_out_bytes' | 'pids') =>
        replicas.reduce((total, replica) => total + replica[field], 0);
      const rates = replicas.map(({ cpu_percent }) => cpu_percent).filter((rate) => rate !== null);
      return reply(200, {
        app: app.name,
        status: app.status,
        restarts: app.restarts,
        cpu_percent:
          rates.length > 0 ? Math.round(rates.reduce((a, b) => a + b, 0) * 100) / 100 : null,
        memory_bytes: sum('memory_bytes'),
        network_in_bytes: sum('network_in_bytes'),
        network_out_bytes: sum('network_out_bytes'),
        pids: sum('pids'),
        replicas,
      });
    },

    async appMetrics(call: Call) {
      const app = named(call);
      const figures = (await core.ingress.figures())[app.id];
      const requests = figures ? renderRequestMetrics([{ name: app.name, figures }]) : '';
      const usage = renderMetrics([{ app, replicas: await stats.read(app) }]);
      return reply(200, usage + requests, PROMETHEUS);
    },

    async figures() {
      const apps = core.connection.info() === null ? [] : core.apps.all();
      const usage = renderMetrics(
        await Promise.all(apps.map(async (app) => ({ app, replicas: await stats.read(app) }))),
      );
      const figures = await core.ingress.figures();
      const requests = core.apps.all().flatMap(({ id, name }) => {
        const found = figures[id];
        return found ? [{ name, figures: found }] : [];
      });
      return reply(200, usage + renderRequestMetrics(requests), PROMETHEUS);
    },

    async execInApp(
      call: Call<{ readonly command: readonly string[]; readonly timeout_s?: number }>,
    ) {
      const app = named(call);
      if (app.deployment === null) throw failure.badRequest('App has not been deployed yet');
      const { command, timeout_s = EXEC_TIMEOUT_S } = call.body;
      if (command.some((word) => word.includes('\0')))
        throw failure.badRequest('command must not contain a NUL byte');
      const { exitCode, ...output } = await execAnywhere(core, app, command, {
        timeout: timeout_s * 1000,
        limit: EXEC_LIMIT,
      });
      return reply(200, { exit_code: exitCode, ...output });
    },

    events: (call: Call) => eventStream(call, appEvents(core, call)),
  };
}

/**
 * Runs a command in the first replica where the engine can: those on other machines of a Swarm are
 * out of its reach.
 */
async function execAnywhere(
  core: Core,
  app: HostedApp,
  command: readonly string[],
  options: ExecOptions,
): Promise<ExecResult> {
  const engine = core.connection.engine();
  const replicas = await listReplicas(engine, core.naming, app);
  let refusal: unknown = failure.conflict('App is not running');
  for (const { id } of replicas.filter(({ state }) => state === 'running'))
    try {
      return await engine.exec(id, command, options);
    } catch (error) {
      if (!(error instanceof EngineError) || error.kind !== 'unsupported') throw error;
      refusal = error;
    }
  throw refusal;
}

async function* appEvents(core: Core, { koa, context }: Call) {
  const queue: { id: string; event: string; data: string }[] = [];
  let wake = () => {};
  const last = Number(koa.get('Last-Event-ID') || Number.NaN);
  const stop = core.events.listen(
    ({ id, type, data }) => {
      // A client that reads too slowly is disconnected. It continues with its last event id.
      if (queue.length < 1000)
        queue.push({ id: String(id), event: type, data: JSON.stringify(data) });
      wake();
    },
    Number.isFinite(last) ? last : undefined,
  );
  context.signal.addEventListener('abort', () => wake(), { once: true });
  try {
    while (!context.signal.aborted && queue.length < 1000) {
      yield* queue.splice(0);
      if (queue.length === 0 && !context.signal.aborted)
        await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    stop();
  }
}
