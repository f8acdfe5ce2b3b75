import { randomUUID } from 'node:crypto';
import { failure } from '@twofold/runtime/errors';
import { createSemaphore } from '@twofold/runtime/kernel';
import type { HostedApp, AppSpec } from './app.ts';
import { ownHost, domainsOf } from './domains.ts';
import { assertFree, assertInRange, newPorts, portKey, type PortRange, taken } from './ports.ts';
import type { Seal } from './seal.ts';
import { deployKeyKey, gitTokenKey, webhookKey } from './settings-table.ts';
import type { HostingStore, RowOf, Trx } from './tables.ts';

/** The fields of an app that can be changed. */
export type AppChange = Partial<Omit<HostedApp, 'id' | 'name' | 'created_at' | 'updated_at'>>;

/**
 * The apps, in the database and as a copy in memory that answers reads. Changes by another server
 * are seen after `load`, which every resync calls.
 */
export interface AppRepository {
  load(): Promise<void>;
  all(): readonly HostedApp[];
  byId(id: string): HostedApp | undefined;
  /** @throws AppError 404 `App not found` */
  byName(name: string): HostedApp;
  /** @throws AppError 409 when the name or a domain is taken. */
  insert(
    app: Pick<HostedApp, 'name' | 'spec' | 'env' | 'files'> & Partial<Pick<HostedApp, 'secrets'>>,
  ): Promise<HostedApp>;
  /** @throws AppError 409 when a domain is taken; 404 when the app is gone. */
  update(id: string, change: AppChange): Promise<HostedApp>;
  remove(id: string): Promise<void>;
  /** Calls the listener after every change. */
  onChange(listener: (app: HostedApp) => void): void;
}

type AppRow = RowOf<'hosting_apps'>;

/** What decides which domains and ports apps may have. */
interface Places {
  /** `APP_URL`. No app may use its host. */
  readonly appUrl?: string | undefined;
  /** The ports that apps may have. */
  readonly range?: PortRange;
  /** The address that the ingress listens on. */
  readonly host?: string;
}

/**
 * Checks the domains and ports that a configuration adds to an earlier one. Gives a promise only
 * where ports are tried, so that any other change is seen at once.
 */
function createPlacing({ appUrl, range = { from: 1, to: 65_535 }, host = '0.0.0.0' }: Places) {
  const assertNotOurs = ownHost(appUrl);
  return (spec: AppSpec, before?: AppSpec): Promise<void> | undefined => {
    assertNotOurs(spec, before);
    const fresh = newPorts(spec, before);
    assertInRange(fresh, range);
    return fresh.length > 0 ? assertFree(fresh, host) : undefined;
  };
}

export function createAppRepository({
  store,
  seal,
  now,
  ...places
}: Places & {
  readonly store: HostingStore;
  readonly seal: Seal;
  readonly now: () => number;
}): AppRepository {
  const { db } = store;
  let apps = new Map<string, HostedApp>();
  const assertPlaced = createPlacing(places);
  const listeners: ((app: HostedApp) => void)[] = [];
  const stamp = () => new Date(now()).toISOString();
  const tell = (app: HostedApp) => {
    for (const listener of listeners) listener(app);
    return app;
  };
  // In turn: a change that ends after the removal of its app would bring the app back, and a load
  // that read the rows before a change would undo it in memory.
  const inTurn = createSemaphore(1);

  const load = async () => {
    const rows = await db.selectFrom('hosting_apps').selectAll().orderBy('name').execute();
    apps = new Map(rows.map((row) => [row.id, fromRow(row, seal)]));
  };

  return {
    load: () => inTurn.run(load),
    all: () => [...apps.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
    byId: (id) => apps.get(id),
    byName(name) {
      for (const app of apps.values()) if (app.name === name) return app;
      throw failure.notFound('App not found');
    },
    insert: (given) =>
      inTurn.run(async () => {
        await assertPlaced(given.spec);
        const app = newApp(given, stamp());
        await insertApp(store, app, seal);
        apps.set(app.id, app);
        return tell(app);
      }),
    async update(id, change) {
      const placed = change.spec && assertPlaced(change.spec, apps.get(id)?.spec);
      if (placed) await placed;
      const put = () => {
        const app = apps.get(id);
        if (!app) throw failure.notFound('App not found');
        const changed = { ...app, ...change, updated_at: stamp() };
        apps.set(id, changed);
        return changed;
      };
      // Seen at once, so that who makes the next change from what is there keeps this one.
      put();
      return inTurn.run(async () => {
        // Once more: the rows may have been read since.
        const changed = put();
        await saveApp(store, seal, { app: changed, change }).catch(async (error: unknown) => {
          await load();
          throw error;
        });
        return tell(apps.get(id) ?? changed);
      });
    },
    remove: (id) =>
      inTurn.run(async () => {
        await removeApp(store, id);
        apps.delete(id);
      }),
    onChange: (listener) => void listeners.push(listener),
  };
}

function newApp(
  { name, spec, env, secrets = {}, files = [] }: Parameters<AppRepository['insert']>[0],
  at: string,
): HostedApp {
  return {
    id: randomUUID(),
    name,
    status: 'created',
    desired: 'stopped',
    deployment: null,
    restarts: 0,
    error: null,
    spec,
    env,
    secrets,
    files,
    created_at: at,
    updated_at: at,
  };
}

async function insertApp(store: HostingStore, app: HostedApp, seal: Seal): Promise<void> {
  await store.transaction(async (trx) => {
    const taken = await trx
      .selectFrom('hosting_apps')
      .select('id')
      .where('name', '=', app.name)
      .executeTakeFirst();
    if (taken) throw failure.conflict('App with this name already exists');
    await claimDomains(trx, app);
    await claimPorts(trx, app);
    await trx.insertInto('hosting_apps').values(toRow(app, seal)).execute();
  });
}

const OF_APP = [
  'hosting_domains',
  'hosting_deployments',
  'hosting_deliveries',
  'hosting_runs',
  'hosting_crons',
  'hosting_ports',
] as const;

async function removeApp(store: HostingStore, id: string): Promise<void> {
  await store.transaction(async (trx) => {
    for (const table of OF_APP) await trx.deleteFrom(table).where('app_id', '=', id).execute();
    await trx
      .deleteFrom('hosting_settings')
      .where('key', 'in', [gitTokenKey(id), webhookKey(id), deployKeyKey(id)])
      .execute();
    await trx.deleteFrom('hosting_apps').where('id', '=', id).execute();
  });
}

async function saveApp(
  store: HostingStore,
  seal: Seal,
  { app, change }: { readonly app: HostedApp; readonly change: AppChange },
): Promise<void> {
  const row = changedColumns(app, change, seal);
  if (!change.spec)
    return void (await store.db
      .updateTable('hosting_apps')
      .set(row)
      .where('id', '=', app.id)
      .execute());
  await store.transaction(async (trx) => {
    await trx.deleteFrom('hosting_domains').where('app_id', '=', app.id).execute();
    await claimDomains(trx, app);
    await trx.deleteFrom('hosting_ports').where('app_id', '=', app.id).execute();
    await claimPorts(trx, app);
    await trx.updateTable('hosting_apps').set(row).where('id', '=', app.id).execute();
  });
}

/** The primary key of the table decides: of two requests for one domain, one fails. */
async function claimDomains(trx: Trx, app: HostedApp): Promise<void> {
  for (const domain of domainsOf(app.spec)) {
    const holder = await trx
      .selectFrom('hosting_domains')
      .select('app_id')
      .where('domain', '=', domain)
      .executeTakeFirst();
    if (holder) throw failure.conflict(`Domain ${domain} already in use by another app`);
    await trx.insertInto('hosting_domains').values({ domain, app_id: app.id }).execute();
  }
}

/** The ports of the next deployment and those of the last one belong to the app. */
async function claimPorts(trx: Trx, { id, spec }: HostedApp): Promise<void> {
  const all = new Map(
    [...(spec.usedPorts ?? []), ...(spec.ports ?? [])].map((one) => [portKey(one), one]),
  );
  for (const [, { port, protocol = 'tcp' }] of all) {
    const holder = await trx
      .selectFrom('hosting_ports')
      .select('app_id')
      .where('port', '=', port)
      .where('protocol', '=', protocol)
      .executeTakeFirst();
    if (holder) throw taken({ port, protocol });
    await trx.insertInto('hosting_ports').values({ port, protocol, app_id: id }).execute();
  }
}

function fromRow({ spec, sealed, ...row }: AppRow, seal: Seal): HostedApp {
  return { ...row, spec: JSON.parse(spec), ...JSON.parse(seal.open(sealed, aboutApp(row.id))) };
}

function toRow(app: HostedApp, seal: Seal): AppRow {
  const { spec, env, secrets, files = [], deployed, ...row } = app;
  return {
    ...row,
    spec: JSON.stringify(spec),
    sealed: seal.seal(JSON.stringify({ env, secrets, files, deployed }), aboutApp(app.id)),
  };
}

function changedColumns(app: HostedApp, change: AppChange, seal: Seal): Partial<AppRow> {
  const { spec, env, secrets, files, deployed, ...columns } = change;
  return {
    ...columns,
    ...(spec && { spec: JSON.stringify(spec) }),
    ...((env || secrets || files || deployed) && { sealed: toRow(app, seal).sealed }),
    updated_at: app.updated_at,
  };
}

const aboutApp = (id: string) => `app:${id}`;
