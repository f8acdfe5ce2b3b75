import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { capabilities, jobRoutes, type RouteSpec } from '@twofold/schema';
import { modelFlows } from '../../runtime/models/flows/index.ts';
import { hostingFlows } from '../../runtime/hosting/flows/index.ts';
import { actorOf, viaOf, createAuditLog } from '../../runtime/core/audit/audit-log.ts';
import { auditedRoute, isAudited } from '../../runtime/core/audit/audited-route.ts';
import { auditMigrations } from '../../runtime/core/audit/index.ts';
import type { Principal } from '../../runtime/core/context/request-context.ts';
import type { Kernel } from '../../runtime/core/module.ts';
import { migrate } from '../../runtime/database/migrations/migrate.ts';
import { openStore } from '../../runtime/core/store/open-store.ts';
import type { Store } from '../../runtime/core/store/store.ts';

const SECRET = 'hunter2-hunter2';

const FLOWS: Readonly<Record<string, readonly RouteSpec[]>> = {
  hosting: hostingFlows,
  models: modelFlows,
};

/** Every route that a capability or the core may add, each once. */
const routes: readonly RouteSpec[] = [
  ...capabilities.flatMap(({ name, routes: all }) => FLOWS[name] ?? all),
  ...jobRoutes,
];

/** Routes with a permission that change nothing by their POST, and why. */
const NO_CHANGE: Readonly<Record<string, string>> = {
  introspect: 'asks whether a token is live',
  promptModel: 'asks a model',
  systemExplain: 'plans an operation without running it',
};

const PERSONAL = ['public', 'user', 'session', 'proof'];

describe('every route of management that changes something', () => {
  let store: Store;
  let kernel: Kernel;
  beforeAll(async () => {
    store = openStore(':memory:', '.');
    await migrate(store, auditMigrations);
    kernel = { store, audit: createAuditLog({ store, now: Date.now }) } as unknown as Kernel;
  });
  afterAll(() => store.close());

  const managing = routes.filter(
    ({ method, access }) => method !== 'GET' && !PERSONAL.includes(access),
  );
  it.each(managing.map((spec) => [spec.id, spec] as const))(
    '%s makes one entry, and no value that may be a secret is in it',
    async (id, spec) => {
      await call(kernel, spec);
      const rows = await store.db.selectFrom('twofold_audit').selectAll().execute();
      await store.db.deleteFrom('twofold_audit').execute();
      expect(rows.length).toBe(id in NO_CHANGE ? 0 : 1);
      expect(isAudited(spec)).toBe(!(id in NO_CHANGE));
      expect(JSON.stringify(rows)).not.toContain(SECRET);
      const { values = [] } = spec.audit || {};
      expect(values.filter((name) => /secret|password|token|env|url|^key$/i.test(name))).toEqual(
        [],
      );
    },
  );

  it('is one of those of which the table says so, and personal routes are none', () => {
    expect(managing.length).toBeGreaterThan(40);
    const personal = routes.filter(({ access }) => PERSONAL.includes(access));
    expect(personal.filter(isAudited)).toEqual([]);
  });
});

describe('an entry', () => {
  const user = { kind: 'user', id: 2, role: null, permissions: [], sessionId: 's', extend: {} };
  it.each([
    ['user:2', 'api', user],
    ['user:2', 'console', { ...user, client: 'console' }],
    ['user:1', 'api', { ...user, impersonator: 1 }],
    ['key:k1', 'api', { kind: 'api_key', id: 'k1', scopes: [], userId: 2 }],
    ['host', 'console', { kind: 'host', sessionId: 's', client: 'console' }],
  ])('names %s, who came by %s', (actor, via, principal) => {
    expect([actorOf(principal as Principal), viaOf(principal as Principal)]).toEqual([actor, via]);
  });
});

/** Calls a route whose handler succeeds, with a secret in each field that the log may not show. */
async function call(kernel: Kernel, spec: RouteSpec): Promise<void> {
  const { handle } = auditedRoute(kernel, {
    spec,
    handle: () => ({ status: 200, body: { id: 7, key: SECRET, secret: SECRET } }),
  });
  const { values = [] } = spec.audit || {};
  const properties =
    spec.body?.kind === 'json' ? Object.keys((spec.body.schema['properties'] as object) ?? {}) : [];
  const body = Object.fromEntries(
    [...properties, 'FREE_FIELD'].map((name) => [
      name,
      values.includes(name) || isNamed(spec, name) ? `${name} of it` : SECRET,
    ]),
  );
  const params = Object.fromEntries(
    [...spec.path.matchAll(/[:*](\w+)/g)].map(([, name]) => [name!, `a-${name}`]),
  );
  const context = {
    principal: { kind: 'host', sessionId: 's' },
    ip: '192.0.2.1',
    id: 'request-1',
    headers: { authorization: SECRET },
  };
  await handle({ route: spec, params, query: { free: SECRET }, body, context } as never);
}

/** Names of things are no secrets: they say what was changed. */
const isNamed = ({ audit }: RouteSpec, name: string): boolean =>
  ['name', 'id'].includes(name) || ((audit || {}).target ?? '').includes(`{${name}}`);
