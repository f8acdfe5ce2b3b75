import { expect, it } from 'vitest';
import { hostingRoutes } from '@twofold/schema';
import type { Handler } from '../../runtime/http/route.ts';
import { guarded } from '../../runtime/hosting/routes/bind.ts';
import { createSeal } from '../../runtime/hosting/records/seal.ts';
import type { AuditEntry } from '../../runtime/hosting/audit.ts';
import { sourceForm, tarGzOf } from './archives.ts';
import { startServer } from './server.ts';

const ok: Handler = () => ({ status: 200 });

type Recorded = Pick<AuditEntry, 'action' | 'target' | 'detail'>;

function call(id: string, principal: unknown, more = {}) {
  const route = hostingRoutes.find((each) => each.id === id);
  return { route, params: { name: 'shop' }, query: {}, body: {}, context: { principal, ip: '1.2.3.4' }, ...more } as never;
}

const user = (...permissions: string[]) => ({ kind: 'user', id: 1, permissions });
const key = (...scopes: string[]) => ({ kind: 'api_key', id: 'k', scopes });

it('a user or key needs the permission for each call; the host needs none', async () => {
  const recorded: Recorded[] = [];
  const handlers = guarded({ listApps: ok, stopApp: ok, execInApp: ok, prune: ok, listTemplates: ok }, { record: async (_, entry) => void recorded.push(entry), list: async () => [] });
  const may = async (id: keyof typeof handlers, principal: unknown) => Promise.resolve(handlers[id](call(id, principal))).then(() => true, (error: { status?: number }) => (error.status === 403 ? false : Promise.reject(error)));
  const seen = async (principal: unknown) => {
    const allowed: string[] = [];
    for (const id of ['listApps', 'stopApp', 'execInApp', 'prune', 'listTemplates'] as const) if (await may(id, principal)) allowed.push(id);
    return allowed;
  };
  expect(await seen({ kind: 'host', sessionId: 's' })).toEqual(['listApps', 'stopApp', 'execInApp', 'prune', 'listTemplates']);
  expect(await seen(user())).toEqual(['listTemplates']);
  expect(await seen(user('apps:read'))).toEqual(['listApps', 'listTemplates']);
  expect(await seen(user('apps:write'))).toEqual(['stopApp', 'listTemplates']);
  expect(await seen(key('apps:exec'))).toEqual(['execInApp', 'listTemplates']);
  expect(await seen(key('apps:*'))).toEqual(['listApps', 'stopApp', 'execInApp', 'listTemplates']);
  expect(await seen(key('system:*'))).toEqual(['prune', 'listTemplates']);
  expect(await seen(key('*'))).toEqual(['listApps', 'stopApp', 'execInApp', 'prune', 'listTemplates']);
  expect(recorded.every(({ action }) => action !== 'listApps')).toBe(true);
});

it('the audit log names fields, and never holds their values', async () => {
  const recorded: Recorded[] = [];
  const handlers = guarded({ putSecret: ok, deployApp: ok }, { record: async (_, entry) => void recorded.push(entry), list: async () => [] });
  await handlers.putSecret(call('putSecret', { kind: 'host' }, { params: { name: 'shop', key: 'API_KEY' }, body: { value: 'hunter2' } }));
  await handlers.deployApp(call('deployApp', { kind: 'host' }, { body: { git: { url: 'https://x.test/a', token: 'hunter2' } } }));
  expect(recorded).toEqual([{ action: 'putSecret', target: 'shop', detail: { fields: ['value'], key: 'API_KEY' } }, { action: 'deployApp', target: 'shop', detail: { fields: ['git'] } }]);
});

it('what is sealed opens with its own name and key alone, and with an earlier key', () => {
  const seal = createSeal(['first secret']);
  const sealed = seal.seal('text', 'app:1');
  expect(sealed).not.toContain('text');
  expect(seal.seal('text', 'app:1')).not.toBe(sealed);
  expect(createSeal(['new secret', 'first secret']).open(sealed, 'app:1')).toBe('text');
  for (const open of [() => seal.open(sealed, 'app:2'), () => createSeal(['other']).open(sealed, 'app:1'), () => seal.open(`${sealed.slice(0, -4)}AAAA`, 'app:1'), () => seal.open('', 'app:1')]) expect(open).toThrow(/cannot be opened/);
});

it('an upload without an engine is refused before it is read', async () => {
  const server = await startServer({ socket: '/nonexistent.sock' });
  expect((await server.api('POST', '/api/deploy', sourceForm({ name: 'x', port: 1 }, tarGzOf({ 'index.html': 'x' })))).status).toBe(503);
  await server.end();
});
