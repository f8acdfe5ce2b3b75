import { failure } from '@twofold/runtime/errors';
import { type Call, reply } from '@twofold/runtime/http';
import type { HostedApp } from '../records/app.ts';
import { showApp } from '../records/view.ts';
import type { RouteParts } from './apps.ts';

/** Routes for projects. A project is there as long as an app names it. */
export function projectHandlers({ core, lifecycle, addressOf, model }: RouteParts) {
  const shown = { addressOf, port: model.defaults.port };
  const show = (name: string, apps: readonly HostedApp[]) => ({
    name,
    apps: apps.map((app) => showApp(app, shown)),
  });
  const appsOf = ({ params }: Call): readonly HostedApp[] => {
    const apps = core.apps.all().filter(({ spec }) => spec.project === params['name']);
    if (apps.length > 0) return apps;
    throw failure.notFound('Project not found');
  };
  return {
    listProjects() {
      const byName = Map.groupBy(core.apps.all(), ({ spec }) => spec.project ?? '');
      byName.delete('');
      const projects = [...byName].sort(([a], [b]) => (a < b ? -1 : 1));
      return reply(200, {
        projects: projects.map(([name, apps]) => show(name, apps)),
        total: projects.length,
      });
    },

    getProject: (call: Call) => reply(200, show(String(call.params['name']), appsOf(call))),

    async deleteProject(call: Call) {
      const apps = appsOf(call);
      // Before anything is removed, because each removal needs the engine.
      core.connection.engine();
      for (const app of apps) await lifecycle.remove(app, { volumes: call.query.volumes === true });
      return reply(200, { status: 'deleted' });
    },
  };
}
