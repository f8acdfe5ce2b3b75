import { Readable } from 'node:stream';
import { failure } from '@twofold/runtime/errors';
import { closed, dateTime, object, orNull, list, text } from '@twofold/schema/shapes';
import { type Call, type Reply, reply } from '@twofold/runtime/http';
import type { Leader } from '../leader.ts';
import { command, timeout } from '../records/app-shape.ts';
import { followRunLog, readRunLog } from '../runs/run-log.ts';
import { RUN_STATUSES, type Run, showRun } from '../records/run.ts';
import type { BegunRun } from '../runs/runner.ts';
import { LINES } from './event-stream.ts';
import { flow, ON_APP, ON_ENGINE, wait } from './flow.ts';

const run = object({
  id: text,
  app: text,
  cron: orNull('string'),
  command,
  status: { enum: RUN_STATUSES },
  exit_code: orNull('integer'),
  started_at: dateTime,
  finished_at: orNull('string'),
});
const begun = { 200: ['The run, which has ended', run], 202: ['The run', run] } as const;

export const startRun = flow('POST /api/apps/:name/runs', {
  needs: 'apps:exec',
  summary: 'Runs a command in a new container of the app, once',
  query: wait,
  body: closed({ command, timeout_s: timeout }, ['command']),
  answers: begun,
  refuses: [...ON_ENGINE, 429],
  async handle(call, { apps, runs: { runner } }) {
    const app = apps.byName(call.params.name);
    if (call.body.command.some((word) => word.includes('\0')))
      throw failure.badRequest('command must not contain a NUL byte');
    return answer(call, await runner.begin(app, call.body));
  },
});

export const startCron = flow('POST /api/apps/:name/cron/:cron/run', {
  needs: 'apps:exec',
  summary: 'Starts a run of a schedule now',
  query: wait,
  answers: begun,
  refuses: [...ON_ENGINE, 429],
  async handle(call, { apps, runs: { runs, runner } }) {
    const app = apps.byName(call.params.name);
    const cron = app.spec.cron?.find(({ name }) => name === call.params.cron);
    if (!cron) throw failure.notFound('Cron not found');
    if ((await runs.list(app.id, { cron: cron.name, status: 'running' })).length > 0)
      throw failure.conflict(`A run of ${cron.name} is still going on`);
    const { command: words, timeout_s, name } = cron;
    const asked = { command: words, ...(timeout_s !== undefined && { timeout_s }) };
    return answer(call, await runner.begin(app, { ...asked, purpose: 'cron', cron: name }));
  },
});

export const listRuns = flow('GET /api/apps/:name/runs', {
  needs: 'apps:read',
  summary: 'Lists the last runs of the app, newest first',
  query: { cron: { type: 'string', maxLength: 63 }, status: { enum: RUN_STATUSES } },
  answers: {
    200: [
      'The runs',
      object({
        runs: list(run),
        total: { type: 'integer' },
        /** How many times of each schedule were skipped because its last run still went on. */
        skipped: { type: 'object', additionalProperties: { type: 'integer' } },
      }),
    ],
  },
  refuses: ON_APP,
  async handle({ params, query }, { apps, runs: { runs, claims } }) {
    const app = apps.byName(params.name);
    const all = await runs.list(app.id, query);
    return reply(200, {
      runs: all.map((each) => showRun(each, app.name)),
      total: all.length,
      skipped: await claims.skipped(app.id),
    });
  },
});

export const getRun = flow('GET /api/apps/:name/runs/:id', {
  needs: 'apps:read',
  summary: 'Returns one run',
  answers: { 200: ['The run', run] },
  refuses: ON_APP,
  handle: async ({ params }, leader) =>
    reply(200, showRun(await found(leader, params), params.name)),
});

export const runLogs = flow('GET /api/apps/:name/runs/:id/logs', {
  needs: 'apps:read',
  summary: 'Returns the output of a run, or follows it as a stream',
  query: { follow: { type: 'boolean', default: false } },
  answers: { 200: ['Lines', 'text/plain'] },
  refuses: ON_ENGINE,
  async handle(call, leader) {
    const known = await found(leader, call.params);
    return reply(200, await logOf(leader, known, call), LINES);
  },
});

export const stopRun = flow('DELETE /api/apps/:name/runs/:id', {
  needs: 'apps:exec',
  summary: 'Stops a run; one that has ended stays as it is',
  answers: { 200: ['The run', run] },
  refuses: ON_ENGINE,
  handle: async ({ params }, leader) =>
    reply(200, showRun(await leader.runs.runner.stop(await found(leader, params)), params.name)),
});

const found = (
  { apps, runs }: Leader,
  { name, id }: { readonly name: string; readonly id: string },
): Promise<Run> => runs.runs.get(apps.byName(name).id, id);

async function answer({ query, params }: Call, { run: started, done }: BegunRun): Promise<Reply> {
  const app = params.name;
  if (query.wait === true) return reply(200, showRun(await done, app));
  return reply(202, showRun(started, app), { Location: `/api/apps/${app}/runs/${started.id}` });
}

/** What a run has printed so far. It is kept when the run has ended. */
async function logOf(
  leader: Leader,
  { id, app_id, status, container }: Run,
  { query, context }: Call,
): Promise<string | Readable> {
  if (status !== 'running') return (await leader.runs.runs.log(id)) ?? '';
  if (container === null) return '';
  if (query.follow !== true) return readRunLog(leader, app_id, container);
  const lines = followRunLog(leader, app_id, { container, signal: context.signal });
  return Readable.from(lines, { objectMode: false });
}
