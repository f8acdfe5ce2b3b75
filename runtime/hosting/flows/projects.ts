import { failure } from '@twofold/runtime/errors';
import { list, listed, object, text } from '@twofold/schema/shapes';
import { reply } from '@twofold/runtime/http';
import type { Leader } from '../leader.ts';
import type { HostedApp } from '../records/app.ts';
import { app } from '../records/app-shape.ts';
import { showApp } from '../records/view.ts';
import { deleted, flow, ON_APP, ON_ENGINE, USUAL } from './flow.ts';

/** A project is there as long as an app names it. */
const project = object({ name: text, apps: list(app) });

export const listProjects = flow('GET /api/projects', {
  needs: 'apps:read',
  summary: 'Lists the projects with their apps',
  answers: { 200: ['The projects', listed('projects', project)] },
  refuses: USUAL,
  handle(_call, leader) {
    const byName = Map.groupBy(leader.apps.all(), ({ spec }) => spec.project ?? '');
    byName.delete('');
    const projects = [...byName].sort(([a], [b]) => (a < b ? -1 : 1));
    return reply(200, {
      projects: projects.map(([name, apps]) => show(leader, name, apps)),
      total: projects.length,
    });
  },
});

export const getProject = flow('GET /api/projects/:name', {
  needs: 'apps:read',
  summary: 'Returns one project with its apps',
  answers: { 200: ['The project', project] },
  refuses: ON_APP,
  handle: ({ params: { name } }, leader) => reply(200, show(leader, name, appsOf(leader, name))),
});

export const deleteProject = flow('DELETE /api/projects/:name', {
  needs: 'apps:write',
  summary: 'Deletes all apps of a project; their volumes only with `volumes=true`',
  query: { volumes: { type: 'boolean', default: false } },
  answers: { 200: ['They were removed'] },
  refuses: ON_ENGINE,
  async handle({ params, query }, leader) {
    const apps = appsOf(leader, params.name);
    // Before anything is removed, because each removal needs the engine.
    leader.connection.engine();
    for (const each of apps) await leader.lifecycle.remove(each, query);
    return deleted();
  },
});

const show = ({ shown }: Leader, name: string, apps: readonly HostedApp[]) => ({
  name,
  apps: apps.map((each) => showApp(each, shown)),
});

/** @throws AppError 404 */
function appsOf({ apps }: Leader, name: string): readonly HostedApp[] {
  const found = apps.all().filter(({ spec }) => spec.project === name);
  if (found.length > 0) return found;
  throw failure.notFound('Project not found');
}
