import { failure } from '@twofold/runtime/errors';
import { closed, dateTime, flag, list, object, text } from '@twofold/schema/shapes';
import { type Call, reply } from '@twofold/runtime/http';
import type { Core } from '../host/core.ts';
import { listReplicas } from '../host/containers.ts';
import type { ExecOptions, ExecResult } from '../engine/engine.ts';
import { EngineError } from '../engine/errors.ts';
import { deploymentNumber, type HostedApp } from '../records/app.ts';
import { command } from '../records/app-shape.ts';
import { renderRequestMetrics } from '../ingress/request-metrics.ts';
import { PROMETHEUS, renderMetrics } from '../host/stats.ts';
import { eventStream } from './event-stream.ts';
import { flow, ON_ENGINE, USUAL } from './flow.ts';

const EXEC_LIMIT = 1024 * 1024;
const EXEC_TIMEOUT_S = 30;

export const appStats = flow('GET /api/apps/:name/stats', {
  needs: 'apps:read',
  summary: 'Returns CPU, memory and network of each replica',
  answers: { 200: ['The usage'] },
  refuses: ON_ENGINE,
  async handle({ params }, { apps, stats }) {
    const app = apps.byName(params.name);
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
});

export const appMetrics = flow('GET /api/apps/:name/metrics', {
  needs: 'apps:read',
  summary: 'Returns the usage of the app for Prometheus',
  answers: { 200: ['Prometheus text', 'text/plain'] },
  refuses: ON_ENGINE,
  async handle({ params }, { apps, ingress, stats }) {
    const app = apps.byName(params.name);
    const figures = (await ingress.figures())[app.id];
    const requests = figures ? renderRequestMetrics([{ name: app.name, figures }]) : '';
    const usage = renderMetrics([{ app, replicas: await stats.read(app) }]);
    return reply(200, usage + requests, PROMETHEUS);
  },
});

export const execInApp = flow('POST /api/apps/:name/exec', {
  needs: 'apps:exec',
  summary: 'Runs a command in the running app',
  body: closed({ command, timeout_s: { type: 'number', exclusiveMinimum: 0, maximum: 600 } }, [
    'command',
  ]),
  answers: {
    200: [
      'The exit code and the output',
      object({ exit_code: { type: 'integer' }, stdout: text, stderr: text, truncated: flag }),
    ],
  },
  refuses: ON_ENGINE,
  async handle({ params, body }, leader) {
    const app = leader.apps.byName(params.name);
    deploymentNumber(app);
    const { command: words, timeout_s = EXEC_TIMEOUT_S } = body;
    if (words.some((word) => word.includes('\0')))
      throw failure.badRequest('command must not contain a NUL byte');
    const { exitCode, ...output } = await execAnywhere(leader, app, words, {
      timeout: timeout_s * 1000,
      limit: EXEC_LIMIT,
    });
    return reply(200, { exit_code: exitCode, ...output });
  },
});

export const openTerminal = flow('POST /api/apps/:name/terminals', {
  needs: 'apps:exec',
  summary: 'Prepares a terminal in the running app',
  description:
    'Its WebSocket is `GET /api/apps/:name/terminals/:id` with the subprotocols `twofold.terminal` and the ticket, once, within 30 s, from the own origin. Binary frames are the bytes of the terminal, text frames `{"resize": {"cols", "rows"}}` in and `{"exit": code}` out.',
  body: closed({
    command: list({ type: 'string', maxLength: 4096 }, { minItems: 1, maxItems: 100 }),
    cols: { type: 'integer', minimum: 1, maximum: 1000 },
    rows: { type: 'integer', minimum: 1, maximum: 1000 },
    replica: { type: 'integer', minimum: 0, maximum: 49 },
  }),
  optional: true,
  answers: {
    201: [
      'The id and the ticket of the terminal',
      object({ id: text, ticket: text, expires_at: dateTime }),
    ],
  },
  refuses: [...ON_ENGINE, 429],
  handle: async (call, { apps, terminals }) =>
    reply(201, await terminals.open(apps.byName(call.params.name), call)),
});

export const events = flow('GET /api/events', {
  needs: 'apps:read',
  summary: 'Streams changes as server-sent events',
  answers: { 200: ['Events', 'text/event-stream'] },
  refuses: USUAL,
  handle: (call, leader) => eventStream(call, appEvents(leader, call)),
});

/**
 * Runs a command in the first replica where the engine can: those on other machines of a Swarm are
 * out of its reach.
 */
async function execAnywhere(
  core: Core,
  app: HostedApp,
  words: readonly string[],
  options: ExecOptions,
): Promise<ExecResult> {
  const engine = core.connection.engine();
  const replicas = await listReplicas(core, app);
  let refusal: unknown = failure.conflict('App is not running');
  for (const { id } of replicas.filter(({ state }) => state === 'running'))
    try {
      return await engine.exec(id, words, options);
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
