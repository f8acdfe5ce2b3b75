import { Readable } from 'node:stream';
import { failure } from '@twofold/runtime/errors';
import { type Call, type Reply, reply } from '@twofold/runtime/http';
import type { Core } from '../core.ts';
import type { CronClaims } from '../runs/cron-claims.ts';
import { followRunLog, readRunLog } from '../runs/run-log.ts';
import type { RunFilter, RunRepository } from '../runs/run-repository.ts';
import { type Run, showRun } from '../runs/run.ts';
import type { BegunRun, Runner } from '../runs/runner.ts';

export interface RunParts {
  readonly core: Core;
  readonly runs: RunRepository;
  readonly runner: Runner;
  readonly claims: CronClaims;
}

type RunCall = Call<{ readonly command: readonly string[]; readonly timeout_s?: number }>;

export function runHandlers({ core, runs, runner, claims }: RunParts) {
  const named = ({ params }: Call) => core.apps.byName(params['name'] as string);
  const found = (call: Call) => runs.get(named(call).id, call.params['id'] as string);
  return {
    async startRun(call: RunCall) {
      const app = named(call);
      if (call.body.command.some((word) => word.includes('\0')))
        throw failure.badRequest('command must not contain a NUL byte');
      return answer(call, await runner.begin(app, call.body));
    },

    async startCron(call: Call) {
      const app = named(call);
      const cron = app.spec.cron?.find(({ name }) => name === call.params['cron']);
      if (!cron) throw failure.notFound('Cron not found');
      if ((await runs.list(app.id, { cron: cron.name, status: 'running' })).length > 0)
        throw failure.conflict(`A run of ${cron.name} is still going on`);
      const { command, timeout_s, name } = cron;
      const asked = { command, ...(timeout_s !== undefined && { timeout_s }) };
      return answer(call, await runner.begin(app, { ...asked, purpose: 'cron', cron: name }));
    },

    async listRuns(call: Call) {
      const app = named(call);
      const all = await runs.list(app.id, call.query as RunFilter);
      return reply(200, {
        runs: all.map((run) => showRun(run, app.name)),
        total: all.length,
        skipped: await claims.skipped(app.id),
      });
    },

    getRun: async (call: Call) => reply(200, showRun(await found(call), named(call).name)),

    async runLogs(call: Call) {
      const run = await found(call);
      return reply(200, await logOf({ core, runs }, run, call), {
        'Content-Type': 'text/plain; charset=utf-8',
        'Cache-Control': 'no-store',
      });
    },

    async stopRun(call: Call) {
      const { name } = named(call);
      return reply(200, showRun(await runner.stop(await found(call)), name));
    },
  };
}

async function answer({ query, params }: Call<unknown>, { run, done }: BegunRun): Promise<Reply> {
  const app = params['name'] as string;
  if (query.wait === true) return reply(200, showRun(await done, app));
  return reply(202, showRun(run, app), { Location: `/api/apps/${app}/runs/${run.id}` });
}

/** What a run has printed so far. It is kept when the run has ended. */
async function logOf(
  { core, runs }: Pick<RunParts, 'core' | 'runs'>,
  { id, app_id, status, container }: Run,
  { query, context }: Call,
): Promise<string | Readable> {
  if (status !== 'running') return (await runs.log(id)) ?? '';
  if (container === null) return '';
  if (query.follow !== true) return readRunLog(core, app_id, container);
  const lines = followRunLog(core, app_id, { container, signal: context.signal });
  return Readable.from(lines, { objectMode: false });
}
