import { failure } from '@twofold/runtime/errors';
import { type Call, type Reply, reply } from '@twofold/runtime/http';
import { DeploymentCancelled, type StartedDeployment } from '../deploy/deployer.ts';
import type { HostedApp, Deployment } from '../records/app.ts';
import { assertImage } from '../records/names.ts';
import { showDeployment } from '../records/view.ts';
import type { RouteParts } from './apps.ts';

export function deploymentHandlers({ core, deployer }: RouteParts) {
  const { apps, deployments } = core;
  const named = ({ params }: Call) => apps.byName(params['name'] as string);
  return {
    async listDeployments(call: Call) {
      const app = named(call);
      const all = await deployments.list(app.id, call.query.limit);
      return reply(200, {
        deployments: all.map((deployment) => showDeployment(deployment, app)),
        total: all[0]?.number ?? 0,
      });
    },

    async getDeployment(call: Call) {
      const app = named(call);
      return reply(200, showDeployment(await deployments.get(app.id, numberOf(call)), app));
    },

    async cancelDeployment(call: Call) {
      const app = named(call);
      const { number, status } = await deployments.get(app.id, numberOf(call));
      if (!isUnfinished(status)) throw finished(number, status);
      await core.operations.cancel(app.id, new DeploymentCancelled());
      const ended = await deployments.get(app.id, number);
      if (ended.status !== 'cancelled') throw finished(number, ended.status);
      return reply(200, showDeployment(ended, app));
    },

    async rollbackApp(call: Call<{ readonly deployment?: number }>) {
      const app = named(call);
      const earlier =
        call.body.deployment === undefined
          ? await previous(core.deployments, app)
          : await deployments.get(app.id, call.body.deployment);
      if (earlier.status !== 'healthy' && earlier.status !== 'superseded')
        throw failure.conflict(
          `Deployment ${earlier.number} never served: choose one that is healthy or superseded`,
        );
      const begun = await deployer.begin(app, {
        trigger: 'rollback',
        source: earlier.source,
        prepare: deployer.fromDeployment(earlier),
      });
      return answer(begun, { app: () => named(call), wait: true });
    },
  };
}

const isUnfinished = (status: Deployment['status']) =>
  status === 'pending' || status === 'building' || status === 'deploying';

const finished = (number: number, status: string) =>
  failure.conflict(`Deployment ${number} has finished: it is ${status}`);

/**
 * Responds with 200 when the deployment serves, or with 202 while it is being built. With `wait`, a
 * failure is thrown.
 */
export async function answer(
  { deployment, done }: StartedDeployment,
  { app, wait }: { readonly app: () => HostedApp; readonly wait: boolean },
): Promise<Reply> {
  if (wait) return reply(200, showDeployment(await done, app()));
  // The response is sent before the result is known. The deployment's record has the reason of a
  // failure.
  done.catch(() => {});
  return reply(202, showDeployment({ ...deployment, status: 'building' }, app()), {
    Location: `/api/apps/${app().name}/deployments/${deployment.number}`,
  });
}

/** @throws AppError 404 */
export function numberOf({ params }: Call): number {
  const number = Number(params['number']);
  if (!Number.isSafeInteger(number) || number < 1 || number > 2_147_483_647)
    throw failure.notFound('Deployment not found');
  return number;
}

/** The newest deployment that served before the current one. */
async function previous(
  deployments: RouteParts['core']['deployments'],
  app: HostedApp,
): Promise<Deployment> {
  const kept = await deployments.kept(app.id, 50);
  const earlier = kept.find(({ number }) => app.deployment !== null && number < app.deployment);
  if (earlier) return earlier;
  throw failure.conflict('There is no earlier deployment to go back to');
}

/** The image to deploy: the one in the body, or the app's current one. */
export function imageOf(app: HostedApp, image: string | undefined): string {
  const reference =
    image ?? (app.spec.source === null || app.spec.source.kind === 'image' ? app.spec.image : null);
  if (!reference) throw failure.badRequest('No image specified');
  assertImage(reference);
  return reference;
}
