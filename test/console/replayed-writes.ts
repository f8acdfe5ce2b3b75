import { jobRoutes, projectRoutes, type RouteSpec } from '@twofold/schema';
import { flowsFor } from '../capabilities.ts';
import { hasScope } from '../../runtime/core/context/scopes.ts';
import { adminDataDocument } from '../../schema/routes/admin-data-document.ts';
import { bearerOf, type Role, ROLES } from './pages.ts';
import type { WholeServer } from './whole-server.ts';

type Call = Pick<RouteSpec, 'method' | 'path' | 'access' | 'id'>;

/** The permission that a guard asks for, where its name is no permission. */
const PERMISSIONS: Readonly<Record<string, string>> = {
  admin: 'auth:manage',
  impersonate: 'auth:impersonate',
};

/** Who may call it would remove the images that other test files use. */
const SPARED = new Set(['prune']);

/** Rows that are there, for callers who must not reach them. */
const THERE: Readonly<Record<string, string>> = { ':name': 'web', ':org': 'tests' };

/** The permission that a route needs; undefined for routes of the caller's own account and of REST. */
export const permissionOf = ({ access }: Call): string | undefined =>
  access.includes(':') ? access : PERMISSIONS[access];

/** Every route of a server that changes something, from the tables of routes. */
export function writesOf({ kernel: { project } }: WholeServer): Call[] {
  const routes = [
    ...projectRoutes(project, undefined, flowsFor(project)),
    ...jobRoutes,
    ...adminDataDocument(project, {}).routes,
  ];
  return routes.filter(({ method }) => method !== 'GET');
}

/** `METHOD /path` of each write in the served document. */
export async function documentedWrites(server: WholeServer): Promise<string[]> {
  const { paths } = (await server.call('GET', '/api/openapi.json')).body;
  return Object.entries<object>(paths).flatMap(([path, item]) =>
    Object.keys(item)
      .filter((method) => method !== 'get')
      .map((method) => `${method.toUpperCase()} ${path}`),
  );
}

export const inDocument = ({ method, path }: Call) =>
  `${method} ${path.replaceAll(/[:*](\w+)/g, '{$1}')}`;

/** What a route answered to a caller, if that is not what its permission says. */
export interface Surprise {
  readonly caller: string;
  readonly call: string;
  readonly status: number;
}

/** Calls every route that needs a permission as each role, and as keys that hold one permission each. */
export async function replayWrites(server: WholeServer): Promise<Surprise[]> {
  const writes = writesOf(server).filter((each) => permissionOf(each) !== undefined);
  const permissions = [...new Set(writes.map((each) => permissionOf(each)!))];
  const found: Surprise[] = [];
  for (const role of Object.keys(ROLES) as Role[]) {
    const headers = await bearerOf(server, role);
    for (const write of writes)
      found.push(...(await replay(server, write, { name: role, headers, held: ROLES[role] })));
  }
  for (const held of permissions.filter((each) => each !== 'auth:impersonate')) {
    const key = { name: held, scopes: [held] };
    const { body } = await server.call('POST', '/api/auth/admin/api-keys', key, server.operator);
    const headers = { 'X-API-Key': body.key };
    for (const write of writes)
      found.push(...(await replay(server, write, { name: `key ${held}`, headers, held: [held] })));
  }
  return found;
}

interface Caller {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly held: readonly string[] | null;
}

async function replay(server: WholeServer, write: Call, caller: Caller): Promise<Surprise[]> {
  const { method, access, id } = write;
  const holds = hasScope(caller.held ?? [], permissionOf(write)!);
  // Acting as a user is for a person who is signed in: neither the operator nor a key is one.
  const asUser = access === 'impersonate' && !['Owner', 'Viewer', 'Support'].includes(caller.name);
  if (holds && SPARED.has(id)) return [];
  const path = addressOf(write, holds ? 'missing' : 'there');
  const body = method === 'DELETE' ? undefined : {};
  const { status } = await server.call(method, path, body, caller.headers);
  const refused = caller.name === 'nobody' ? status === 401 : status === 403;
  const wanted = asUser
    ? status === 401 || status === 403
    : holds
      ? status < 400 || [400, 404, 409, 415, 422, 503].includes(status)
      : refused;
  return wanted ? [] : [{ caller: caller.name, call: `${method} ${path}`, status }];
}

/** A caller who may is sent to what is not there, so that a replay changes nothing. */
const addressOf = ({ path }: Call, rows: 'there' | 'missing'): string =>
  path.replaceAll(/[:*]\w+/g, (name) => (rows === 'missing' ? '999999' : (THERE[name] ?? '1')));
