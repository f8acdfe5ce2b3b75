import { APP_STATUSES, type HostingModel } from '@twofold/schema';
import { failure } from '@twofold/runtime/errors';
import { type Call, type Reply, reply } from '@twofold/runtime/http';
import type { Targets } from '../backups/targets/targets.ts';
import type { Core } from '../core.ts';
import type { Deployer } from '../deploy/deployer.ts';
import type { Lifecycle } from '../deploy/lifecycle.ts';
import { routeOf } from '../deploy/rollout.ts';
import type { HostedApp } from '../records/app.ts';
import { changeSpec, newSpec, toSpecFields, type AppFields } from '../records/fields.ts';
import { assertAppName, toEnv } from '../records/names.ts';
import { toFiles } from '../records/process-fields.ts';
import { domainsOf } from '../records/worker.ts';
import { showApp, type AddressOf, type ViewContext } from '../records/view.ts';
import { withoutMasks } from './settings.ts';

/** Shared by the route handlers. */
export interface RouteParts {
  readonly core: Core;
  readonly model: HostingModel;
  readonly deployer: Deployer;
  readonly lifecycle: Lifecycle;
  readonly addressOf: AddressOf;
  readonly targets: Targets;
}

type CreateFields = AppFields & { readonly name: string };

export function appHandlers(parts: RouteParts) {
  const { core, model, deployer, lifecycle, addressOf, targets } = parts;
  const { apps } = core;
  const named = ({ params }: Call) => apps.byName(params['name'] as string);
  const shown: ViewContext = { addressOf, port: model.defaults.port };
  const show = (app: HostedApp, status = 200): Reply =>
    reply(status, showApp(apps.byId(app.id) ?? app, shown));

  return {
    listApps: ({ query }: Call) => listApps(apps.all(), query, shown),

    async createApp({ body }: Call<CreateFields>) {
      assertAppName(body.name);
      const spec = newSpec(body.name, await toSpecFields(body), model);
      await targets.assertKnown(body.backup?.target);
      const env = toEnv(body.env ?? {});
      const files = toFiles(body.files ?? []);
      if (body.image !== undefined) core.connection.engine();
      const app = await apps.insert({ name: body.name, spec, env, files });
      if (body.image === undefined) return show(app, 201);
      const source = { kind: 'image', image: body.image } as const;
      const prepare = deployer.fromImage(body.image);
      await deployer.first(app, { trigger: 'create', source, prepare });
      return show(app, 201);
    },

    getApp: (call: Call) => show(named(call)),

    async changeApp(call: Call<AppFields>) {
      const app = named(call);
      const spec = changeSpec(app.spec, await toSpecFields(call.body, app.spec));
      await targets.assertKnown(call.body.backup?.target);
      const env = call.body.env === undefined ? undefined : withoutMasks(app, toEnv(call.body.env));
      const files = call.body.files && toFiles(call.body.files);
      const apply = call.query.apply === true && app.deployment !== null;
      if (apply) core.connection.engine();
      const changed = await apps.update(app.id, {
        spec,
        ...(env && { env }),
        ...(files && { files }),
      });
      reroute(core, changed);
      if (apply) await applyNow(parts, changed);
      return show(app);
    },

    async deleteApp(call: Call) {
      await lifecycle.remove(named(call), { volumes: call.query.volumes === true });
      return reply(200, { status: 'deleted' });
    },

    startApp: async (call: Call) => show(await lifecycle.start(named(call))),
    stopApp: async (call: Call) => show(await lifecycle.stop(named(call))),
    restartApp: async (call: Call) => show(await lifecycle.restart(named(call))),
  };
}

/** The apps are sorted by name, so a name can be the cursor. */
function listApps(
  all: readonly HostedApp[],
  { limit, cursor, status, q }: Call['query'],
  shown: ViewContext,
): Reply {
  if (status !== undefined && !APP_STATUSES.includes(status))
    throw failure.badRequest(`status must be one of ${APP_STATUSES.join(', ')}`);
  const text = q?.toLowerCase();
  const found = all.filter(
    (app) =>
      (status === undefined || app.status === status) &&
      (!text ||
        app.name.includes(text) ||
        domainsOf(app.spec).some((domain) => domain.includes(text))),
  );
  const after = cursor === undefined ? found : found.filter(({ name }) => name > cursor);
  const page = limit === undefined ? after : after.slice(0, limit);
  const more = page.length < after.length ? { next_cursor: page.at(-1)?.name } : {};
  return reply(200, { apps: page.map((app) => showApp(app, shown)), total: found.length, ...more });
}

/** New domains and limits apply at once, because they need no new container. */
function reroute(core: Core, app: HostedApp): void {
  const route = core.ingress.get(app.id);
  if (route) core.ingress.set({ ...route, ...routeOf(app) });
}

async function applyNow({ core, deployer }: RouteParts, app: HostedApp): Promise<void> {
  const current = await core.deployments.get(app.id, app.deployment as number);
  const { done } = await deployer.begin(app, {
    trigger: 'change',
    source: current.source,
    prepare: deployer.fromDeployment(current),
  });
  await done;
}
