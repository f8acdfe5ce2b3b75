import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hostingFlows } from '../../runtime/hosting/flows/index.ts';
import { describeCall } from '../../runtime/core/audit/audited-route.ts';
import { createSeal } from '../../runtime/hosting/records/seal.ts';
import { sourceForm, tarGzOf } from './archives.ts';
import { startServer, token, type TestServer } from './server.ts';

function call(id: string, more = {}) {
  const route = hostingFlows.find((each) => each.id === id);
  return { route, params: { name: 'shop' }, query: {}, body: {}, ...more } as never;
}

/**
 * What every call needs, and a body that would be right: a route that is not in here fails the tests below, so that none
 * can be added without someone deciding who may call it.
 */
const NEEDS: Readonly<Record<string, readonly [string | null, unknown?]>> = {
  listApps: ['apps:read'],
  createApp: ['apps:write', { name: 'mine' }],
  getApp: ['apps:read'],
  changeApp: ['apps:write', { replicas: 2 }],
  deleteApp: ['apps:write'],
  deployApp: ['apps:write', { image: 'a:1' }],
  startApp: ['apps:write'],
  stopApp: ['apps:write'],
  restartApp: ['apps:write'],
  appLogs: ['apps:read'],
  listDeployments: ['apps:read'],
  getDeployment: ['apps:read'],
  deploymentLogs: ['apps:read'],
  cancelDeployment: ['apps:write'],
  rollbackApp: ['apps:write', {}],
  appStats: ['apps:read'],
  appMetrics: ['apps:read'],
  appRequests: ['apps:read'],
  execInApp: ['apps:exec', { command: ['id'] }],
  openTerminal: ['apps:exec', {}],
  startRun: ['apps:exec', { command: ['id'] }],
  startCron: ['apps:exec'],
  listRuns: ['apps:read'],
  getRun: ['apps:read'],
  runLogs: ['apps:read'],
  stopRun: ['apps:exec'],
  listVolumes: ['apps:read'],
  putEnv: ['apps:write', { A: '1' }],
  putSecret: ['apps:write', { value: 'x' }],
  deleteSecret: ['apps:write'],
  getWebhook: ['apps:read'],
  putWebhook: ['apps:write'],
  deleteWebhook: ['apps:write'],
  putCertificate: ['apps:write', { certificate: 'x', key: 'y' }],
  deploySource: ['apps:write'],
  webhook: [null],
  listTemplates: [null],
  deployTemplate: ['apps:write', { name: 'mine' }],
  putSystemCertificate: ['system:write', { certificate: 'x', key: 'y' }],
  systemInfo: ['system:read'],
  systemConfig: ['system:read'],
  prune: ['system:write'],
  listProjects: ['apps:read'],
  getProject: ['apps:read'],
  composeProject: ['apps:write'],
  deleteProject: ['apps:write'],
  listNotifications: ['system:read'],
  getNotification: ['system:read'],
  putNotification: ['system:write', { kind: 'slack', url: 'https://hooks.example/x' }],
  deleteNotification: ['system:write'],
  testNotification: ['system:write'],
  listRegistries: ['system:read'],
  putRegistry: ['system:write', { username: 'ann', password: 'x' }],
  deleteRegistry: ['system:write'],
  checkRegistry: ['system:write'],
  listPreviews: ['apps:read'],
  createPreview: ['apps:write', { key: 'a', image: 'a:1' }],
  deletePreview: ['apps:write'],
  createDeployKey: ['apps:write'],
  putDeployKey: ['apps:write', { private_key: 'x' }],
  getDeployKey: ['apps:read'],
  deleteDeployKey: ['apps:write'],
  listGitHosts: ['system:read'],
  putGitHost: ['system:write', { public_key: 'x' }],
  deleteGitHost: ['system:write'],
  createBackup: ['apps:write'],
  listBackups: ['apps:read'],
  getBackup: ['apps:read'],
  deleteBackup: ['apps:write'],
  restoreBackup: ['apps:write', { confirm: 'shop' }],
  verifyBackup: ['apps:write'],
  listBackupTargets: ['system:read'],
  createSystemBackup: ['system:write', { target: 'local' }],
  listSystemBackups: ['system:read'],
  getSystemBackup: ['system:read'],
  deleteSystemBackup: ['system:write'],
  putBackupTarget: ['system:write', { kind: 'local', path: '/nonexistent/backups' }],
  deleteBackupTarget: ['system:write'],
  exportApp: ['system:write', { move: '0'.repeat(32), step: 'check' }],
  exportState: ['system:write'],
  importApp: ['system:write'],
  keepImport: [null, { proof: 'x' }],
  events: ['apps:read'],
};

const needsOf = (id: string) => NEEDS[id] ?? (['(nobody has said)'] as const);

const ROLES: readonly (readonly [string, readonly string[]])[] = [
  ['user', []],
  ['user apps:read', ['apps:read']],
  ['user apps:write', ['apps:write']],
  ['user apps:exec', ['apps:exec']],
  ['user system:read', ['system:read']],
  ['user models:read,models:write,users:manage', []],
  ['user apps', []],
  ['user Apps:Read,apps:reads,xapps:read', []],
  ['api_key', []],
  ['api_key apps:read', ['apps:read']],
  ['api_key apps:*', ['apps:read', 'apps:write', 'apps:exec']],
  ['api_key system:*', ['system:read', 'system:write']],
  ['api_key read,write,models:*', []],
  ['api_key *', ['apps:read', 'apps:write', 'apps:exec', 'system:read', 'system:write']],
];

describe('every call', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ socket: '/nonexistent.sock' });
    await server.api('POST', '/api/apps', { name: 'shop', env: { WORD: 'plain-value' } });
    await server.api('PUT', '/api/apps/shop/secrets/API_KEY', { value: 'hunter2-hunter2' });
  });
  afterAll(() => server?.end());

  /** Streams are left as soon as their status is known. */
  async function ask(route: (typeof hostingFlows)[number], authorization: string) {
    const path = route.path
      .replace(':name', 'shop')
      .replace(':app', 'shop')
      .replace(':number', '1')
      .replace(':key', 'API_KEY')
      .replace(':host', 'registry.example.com')
      .replace(':id', 'postgres');
    const [, body] = needsOf(route.id);
    const form =
      route.id === 'deploySource'
        ? sourceForm({ name: 'mine' }, tarGzOf({ 'index.html': 'x' }))
        : undefined;
    const abort = new AbortController();
    const headers = {
      authorization,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    const answer = await fetch(server.url + path, {
      method: route.method,
      headers,
      signal: abort.signal,
      ...(body !== undefined ? { body: JSON.stringify(body) } : form && { body: form }),
    });
    const text = answer.headers.get('content-type')?.includes('event-stream')
      ? ''
      : await answer.text();
    abort.abort();
    return { status: answer.status, text };
  }
  const state = async () =>
    JSON.stringify([
      (await server.api('GET', '/api/apps')).body,
      (await server.api('GET', '/api/system/audit')).body.entries.length,
    ]);

  it('is refused to a stranger, before anything is looked at', async () => {
    const before = await state();
    for (const authorization of [
      '',
      'Bearer',
      'Bearer wrong',
      `Basic ${token}`,
      `bearer ${token}x`,
    ]) {
      for (const route of hostingFlows) {
        const { status, text } = await ask(route, authorization);
        const open = needsOf(route.id)[0] === null;
        expect([authorization, route.id, open ? status < 500 && status !== 403 : status]).toEqual([
          authorization,
          route.id,
          open || 401,
        ]);
        if (!open) expect([route.id, text]).toEqual([route.id, '{"error":"Unauthorized"}']);
      }
    }
    expect(await state()).toBe(before);
  });

  it.each(ROLES)('is allowed to "%s" by what it may do alone', async (who, granted) => {
    const before = await state();
    for (const route of hostingFlows) {
      const [needed] = needsOf(route.id);
      const allowed = needed === null || granted.includes(needed);
      if (allowed && route.method !== 'GET' && needed !== null) continue; // What it does is for the other tests.
      const { status, text } = await ask(route, `Bearer ${who}`);
      const refused = allowed
        ? [route.id, false]
        : [route.id, 403, `{"error":"Permission ${needed} is required"}`];
      expect(allowed ? [route.id, status === 403] : [route.id, status, text]).toEqual(refused);
      expect(text).not.toContain('hunter2');
      if (!allowed) expect(text).not.toContain('plain-value');
    }
    expect(await state()).toBe(before);
  });

  it('has its place in the table, and the public ones are the three that are meant', () => {
    expect(hostingFlows.map(({ id }) => id).sort()).toEqual(Object.keys(NEEDS).sort());
    expect(
      hostingFlows
        .filter(({ access }) => (access as string) === 'public')
        .map(({ id }) => id)
        .sort(),
    ).toEqual(['keepImport', 'listTemplates', 'webhook']);
    expect(
      Object.entries(NEEDS)
        .filter(([, [needed]]) => needed === null)
        .map(([id]) => id)
        .sort(),
    ).toEqual(['keepImport', 'listTemplates', 'webhook']);
  });
});

it('the audit log names fields, and never holds their values', () => {
  const ok = { status: 200 };
  const secret = call('putSecret', {
    params: { name: 'shop', key: 'API_KEY' },
    body: { value: 'hunter2' },
  });
  const git = call('deployApp', { body: { git: { url: 'https://x.test/a', token: 'hunter2' } } });
  expect([describeCall(secret, ok), describeCall(git, ok)]).toEqual([
    { action: 'putSecret', target: 'shop', detail: { fields: ['value'], key: 'API_KEY' } },
    { action: 'deployApp', target: 'shop', detail: { fields: ['git'] } },
  ]);
});

it('what is sealed opens with its own name and key alone, and with an earlier key', () => {
  const seal = createSeal(['first secret']);
  const sealed = seal.seal('text', 'app:1');
  expect(sealed).not.toContain('text');
  expect(seal.seal('text', 'app:1')).not.toBe(sealed);
  expect(createSeal(['new secret', 'first secret']).open(sealed, 'app:1')).toBe('text');
  for (const open of [
    () => seal.open(sealed, 'app:2'),
    () => createSeal(['other']).open(sealed, 'app:1'),
    () => seal.open(`${sealed.slice(0, -4)}AAAA`, 'app:1'),
    () => seal.open('', 'app:1'),
  ])
    expect(open).toThrow(/cannot be opened/);
});

it('an upload without an engine is refused before it is read', async () => {
  const server = await startServer({ socket: '/nonexistent.sock' });
  expect(
    (
      await server.api(
        'POST',
        '/api/deploy',
        sourceForm({ name: 'x', port: 1 }, tarGzOf({ 'index.html': 'x' })),
      )
    ).status,
  ).toBe(503);
  await server.end();
});
