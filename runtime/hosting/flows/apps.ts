import { APP_STATUSES } from '@twofold/schema';
import { failure } from '@twofold/runtime/errors';
import { listed, object, orNull, text } from '@twofold/schema/shapes';
import { reply } from '@twofold/runtime/http';
import { volumeName } from '../host/containers.ts';
import { routeOf } from '../deploy/rollout.ts';
import type { Leader } from '../leader.ts';
import type { HostedApp } from '../records/app.ts';
import { app, changeBody, createBody } from '../records/app-shape.ts';
import { changeSpec, newSpec, toSpecFields } from '../records/fields.ts';
import { assertAppName, toEnv } from '../records/names.ts';
import { toFiles } from '../records/process-fields.ts';
import { domainsOf } from '../records/domains.ts';
import { showApp } from '../records/view.ts';
import { deleted, flow, MIB, ON_APP, ON_ENGINE, USUAL } from './flow.ts';
import { withoutMasks } from './settings.ts';

export const listApps = flow('GET /api/apps', {
  needs: 'apps:read',
  summary: 'Lists the apps, sorted by name',
  query: {
    limit: { type: 'integer', minimum: 1, maximum: 1000 },
    cursor: { type: 'string', maxLength: 100 },
    status: { type: 'string', maxLength: 20 },
    q: { type: 'string', maxLength: 100 },
  },
  answers: { 200: ['The apps', object({ ...listed('apps', app).properties, next_cursor: text })] },
  refuses: USUAL,
  handle({ query: { limit, cursor, status, q } }, { apps, shown }) {
    if (status !== undefined && !APP_STATUSES.some((each) => each === status))
      throw failure.badRequest(`status must be one of ${APP_STATUSES.join(', ')}`);
    const wanted = q?.toLowerCase();
    const found = apps
      .all()
      .filter(
        (each) =>
          (status === undefined || each.status === status) &&
          (!wanted ||
            each.name.includes(wanted) ||
            domainsOf(each.spec).some((domain) => domain.includes(wanted))),
      );
    // The apps are sorted by name, so a name can be the cursor.
    const after = cursor === undefined ? found : found.filter(({ name }) => name > cursor);
    const page = limit === undefined ? after : after.slice(0, limit);
    const more = page.length < after.length ? { next_cursor: page.at(-1)?.name } : {};
    return reply(200, {
      apps: page.map((each) => showApp(each, shown)),
      total: found.length,
      ...more,
    });
  },
});

export const createApp = flow('POST /api/apps', {
  needs: 'apps:write',
  summary: 'Creates an app, and deploys its image if it has one',
  audit: { values: ['image'] },
  body: createBody,
  limit: 2 * MIB,
  answers: { 201: ['The app', app] },
  refuses: [...USUAL, 409, 422, 502, 503, 507],
  async handle({ body }, leader) {
    const { apps, backups, connection, deployer, model } = leader;
    const { name, image } = body;
    assertAppName(name);
    const spec = newSpec(name, await toSpecFields(body), model);
    await backups.parts.targets.assertKnown(body.backup?.target);
    const env = toEnv(body.env ?? {});
    const files = toFiles(body.files ?? []);
    if (image !== undefined) connection.engine();
    const made = await apps.insert({ name, spec, env, files });
    if (image !== undefined)
      await deployer.first(made, { trigger: 'create', ...deployer.ofImage(image) });
    return show(made, leader, 201);
  },
});

export const getApp = flow('GET /api/apps/:name', {
  needs: 'apps:read',
  summary: 'Returns one app',
  answers: { 200: ['The app', app] },
  refuses: ON_APP,
  handle: ({ params }, leader) => show(leader.apps.byName(params.name), leader),
});

export const changeApp = flow('PATCH /api/apps/:name', {
  needs: 'apps:write',
  summary: 'Changes the configuration, for the next deployment or at once',
  audit: { values: ['replicas'] },
  query: { apply: { type: 'boolean', default: false } },
  body: changeBody,
  limit: 2 * MIB,
  answers: { 200: ['The app', app] },
  refuses: [...ON_ENGINE, 422],
  async handle({ params, body, query }, leader) {
    const { apps, backups, connection } = leader;
    const known = apps.byName(params.name);
    const spec = changeSpec(known.spec, await toSpecFields(body, known.spec));
    await backups.parts.targets.assertKnown(body.backup?.target);
    const env = body.env && withoutMasks(known, toEnv(body.env));
    const files = body.files && toFiles(body.files);
    const apply = query.apply && known.deployment !== null;
    if (apply) connection.engine();
    const changed = await apps.update(known.id, {
      spec,
      ...(env && { env }),
      ...(files && { files }),
    });
    reroute(leader, changed);
    if (apply) await applyNow(leader, changed);
    return show(known, leader);
  },
});

export const deleteApp = flow('DELETE /api/apps/:name', {
  needs: 'apps:write',
  summary: 'Deletes an app; its volumes only with `volumes=true`',
  query: { volumes: { type: 'boolean', default: false } },
  answers: { 200: ['It was removed'] },
  refuses: ON_ENGINE,
  async handle({ params, query }, { apps, lifecycle }) {
    await lifecycle.remove(apps.byName(params.name), query);
    return deleted();
  },
});

const operation = (name: 'start' | 'stop' | 'restart', summary: string) =>
  flow(`POST /api/apps/:name/${name}`, {
    needs: 'apps:write',
    summary,
    answers: { 200: ['The app', app] },
    refuses: ON_ENGINE,
    handle: async ({ params }, leader) =>
      show(await leader.lifecycle[name](leader.apps.byName(params.name)), leader),
  });

export const startApp = operation('start', 'Starts a stopped app');
export const stopApp = operation('stop', 'Stops a running app');
export const restartApp = operation('restart', 'Restarts an app, one replica after the other');

const volume = object({
  name: text,
  path: text,
  bytes: { ...orNull('integer'), minimum: 0 },
});

export const listVolumes = flow('GET /api/apps/:name/volumes', {
  needs: 'apps:read',
  summary: 'Lists the volumes of the app with their sizes',
  answers: { 200: ['The volumes', listed('volumes', volume)] },
  refuses: ON_ENGINE,
  async handle({ params }, { apps, connection, naming }) {
    const known = apps.byName(params.name);
    const { volumes } = known.spec;
    const sizes = volumes.length > 0 ? await connection.engine().volumeSizes() : new Map();
    const bytesOf = (name: string) => sizes.get(volumeName({ naming }, known, name)) ?? null;
    return reply(200, {
      volumes: volumes.map(({ name, path }) => ({ name, path, bytes: bytesOf(name) })),
      total: volumes.length,
    });
  },
});

const show = (known: HostedApp, { apps, shown }: Leader, status = 200) =>
  reply(status, showApp(apps.byId(known.id) ?? known, shown));

/** New domains and limits apply at once, because they need no new container. */
function reroute({ ingress }: Leader, changed: HostedApp): void {
  const route = ingress.get(changed.id);
  if (route) ingress.set({ ...route, ...routeOf(changed) });
}

async function applyNow({ deployments, deployer }: Leader, changed: HostedApp): Promise<void> {
  const current = await deployments.serving(changed);
  const { done } = await deployer.begin(changed, { trigger: 'change', ...deployer.again(current) });
  await done;
}
