import { Readable } from 'node:stream';
import { DEPLOYMENT_STATUSES } from '@twofold/schema';
import { failure } from '@twofold/runtime/errors';
import {
  closed,
  count,
  dateTime,
  flag,
  list,
  listed,
  object,
  orNull,
  text,
} from '@twofold/schema/shapes';
import { type Reply, reply } from '@twofold/runtime/http';
import { DeploymentCancelled, type StartedDeployment } from '../deploy/deployer.ts';
import type { Leader } from '../leader.ts';
import type { HostedApp, Deployment } from '../records/app.ts';
import { showDeployment } from '../records/view.ts';
import { eventStream, LINES, wantsEvents } from './event-stream.ts';
import { flow, ON_APP, ON_ENGINE } from './flow.ts';

export const deployment = object({
  app: text,
  number: count,
  status: { enum: DEPLOYMENT_STATUSES },
  current: flag,
  trigger: text,
  source: object({}),
  image: orNull('string'),
  image_id: orNull('string'),
  reason: orNull('string'),
  probes: list(object({ at: dateTime, ok: flag, detail: text })),
  log: list(text),
  has_build_log: flag,
  created_at: dateTime,
  finished_at: orNull('string'),
});

export const listDeployments = flow('GET /api/apps/:name/deployments', {
  needs: 'apps:read',
  summary: 'Lists the deployments, newest first',
  query: { limit: { type: 'integer', minimum: 1, maximum: 200, default: 50 } },
  answers: { 200: ['The deployments', listed('deployments', deployment)] },
  refuses: ON_APP,
  async handle({ params, query }, { apps, deployments }) {
    const app = apps.byName(params.name);
    const all = await deployments.list(app.id, query.limit);
    return reply(200, {
      deployments: all.map((each) => showDeployment(each, app)),
      total: all[0]?.number ?? 0,
    });
  },
});

export const getDeployment = flow('GET /api/apps/:name/deployments/:number', {
  needs: 'apps:read',
  summary: 'Returns one deployment, with its reason and probes',
  answers: { 200: ['The deployment', deployment] },
  refuses: ON_APP,
  async handle({ params }, { apps, deployments }) {
    const app = apps.byName(params.name);
    return reply(200, showDeployment(await deployments.get(app.id, numberOf(params)), app));
  },
});

export const deploymentLogs = flow('GET /api/apps/:name/deployments/:number/logs', {
  needs: 'apps:read',
  summary: 'Returns the build log, or follows a running build as a stream',
  query: { follow: { type: 'boolean', default: false } },
  answers: { 200: ['Lines', 'text/plain'] },
  refuses: ON_APP,
  async handle(call, { apps, deployments, buildLogs }) {
    const key = { app_id: apps.byName(call.params.name).id, number: numberOf(call.params) };
    const { build_log } = await deployments.get(key.app_id, key.number);
    const follow = wantsEvents(call) || call.query.follow;
    const live = follow ? buildLogs.follow(key, call.context.signal) : null;
    const lines = live ?? linesOf(build_log ?? buildLogs.peek(key));
    if (wantsEvents(call)) return eventStream(call, toEvents(lines));
    return reply(200, Readable.from(withLineEnds(lines)), LINES);
  },
});

export const cancelDeployment = flow('POST /api/apps/:name/deployments/:number/cancel', {
  needs: 'apps:write',
  summary: 'Cancels a deployment that has not finished',
  audit: { values: [] },
  answers: { 200: ['The cancelled deployment', deployment] },
  refuses: [...ON_APP, 409],
  async handle({ params }, { apps, deployments, operations }) {
    const app = apps.byName(params.name);
    const { number, status } = await deployments.get(app.id, numberOf(params));
    if (!isUnfinished(status)) throw finished(number, status);
    await operations.cancel(app.id, new DeploymentCancelled());
    const ended = await deployments.get(app.id, number);
    if (ended.status !== 'cancelled') throw finished(number, ended.status);
    return reply(200, showDeployment(ended, app));
  },
});

export const rollbackApp = flow('POST /api/apps/:name/rollback', {
  needs: 'apps:write',
  summary: 'Deploys the image of an earlier deployment',
  audit: { values: ['deployment'] },
  body: closed({ deployment: { type: 'integer', minimum: 1 } }),
  optional: true,
  answers: { 200: ['The deployment, which serves', deployment] },
  refuses: ON_ENGINE,
  async handle({ params, body }, { apps, deployments, deployer }) {
    const app = apps.byName(params.name);
    const earlier =
      body.deployment === undefined
        ? await previous(deployments, app)
        : await deployments.get(app.id, body.deployment);
    if (earlier.status !== 'healthy' && earlier.status !== 'superseded')
      throw failure.conflict(
        `Deployment ${earlier.number} never served: choose one that is healthy or superseded`,
      );
    const begun = await deployer.begin(app, { trigger: 'rollback', ...deployer.again(earlier) });
    return answer(begun, { app: () => apps.byName(params.name), wait: true });
  },
});

const isUnfinished = (status: Deployment['status']) =>
  status === 'pending' || status === 'building' || status === 'deploying';

const finished = (number: number, status: string) =>
  failure.conflict(`Deployment ${number} has finished: it is ${status}`);

/**
 * Responds with 200 when the deployment serves, or with 202 while it is being built. With `wait`, a
 * failure is thrown.
 */
export async function answer(
  { deployment: started, done }: StartedDeployment,
  { app, wait }: { readonly app: () => HostedApp; readonly wait: boolean },
): Promise<Reply> {
  if (wait) return reply(200, showDeployment(await done, app()));
  // The response is sent before the result is known. The deployment's record has the reason of a
  // failure.
  done.catch(() => {});
  return reply(202, showDeployment({ ...started, status: 'building' }, app()), {
    Location: `/api/apps/${app().name}/deployments/${started.number}`,
  });
}

/** @throws AppError 404 */
function numberOf(params: { readonly number: string }): number {
  const number = Number(params.number);
  if (!Number.isSafeInteger(number) || number < 1 || number > 2_147_483_647)
    throw failure.notFound('Deployment not found');
  return number;
}

/** The newest deployment that served before the current one. */
async function previous(deployments: Leader['deployments'], app: HostedApp): Promise<Deployment> {
  const kept = await deployments.kept(app.id, 50);
  const earlier = kept.find(({ number }) => app.deployment !== null && number < app.deployment);
  if (earlier) return earlier;
  throw failure.conflict('There is no earlier deployment to go back to');
}

async function* linesOf(log: string): AsyncGenerator<string> {
  yield* log.split('\n').slice(0, -1);
}

async function* withLineEnds(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield `${line}\n`;
}

async function* toEvents(lines: AsyncIterable<string>) {
  let id = 0;
  for await (const data of lines) yield { id: String((id += 1)), data };
}
