import type { DeploymentStatus } from '@twofold/schema';
import { failure } from '@twofold/runtime/errors';
import { type Deployment, deploymentNumber, type HostedApp } from './app.ts';
import type { HostingStore, RowOf } from './tables.ts';

export type DeploymentChange = Partial<
  Omit<Deployment, 'app_id' | 'number' | 'trigger' | 'created_at'>
>;

/** The deployments of all apps. They are not cached, because they are few and rarely read. */
export interface DeploymentRepository {
  /** Numbers the deployments of each app from 1. */
  insert(deployment: Pick<Deployment, 'app_id' | 'trigger' | 'source'>): Promise<Deployment>;
  update(
    deployment: Pick<Deployment, 'app_id' | 'number'>,
    change: DeploymentChange,
  ): Promise<void>;
  /** Newest first. */
  list(appId: string, limit: number): Promise<Deployment[]>;
  /** @throws AppError 404 `Deployment not found` */
  get(appId: string, number: number): Promise<Deployment>;
  /** The one that serves the app. @throws AppError 400 before the first one. */
  serving(app: Pick<HostedApp, 'id' | 'deployment'>): Promise<Deployment>;
  /** Deployments that have neither succeeded nor failed. */
  unfinished(): Promise<Deployment[]>;
  /** Marks the earlier successful deployments of an app as superseded by `serving`. */
  supersede(appId: string, serving: number): Promise<void>;
  /** The newest successful deployments, with the one that serves. */
  kept(appId: string, count: number): Promise<Deployment[]>;
}

const TABLE = 'hosting_deployments';
const UNFINISHED: readonly DeploymentStatus[] = ['pending', 'building', 'deploying'];
const SUCCESSFUL: readonly DeploymentStatus[] = ['healthy', 'superseded'];

export function createDeploymentRepository(
  store: HostingStore,
  now: () => number,
): DeploymentRepository {
  const all = () => store.db.selectFrom(TABLE).selectAll();
  const newest = (appId: string, count: number) =>
    all().where('app_id', '=', appId).orderBy('number', 'desc').limit(count);
  const change = (appId: string) => store.db.updateTable(TABLE).where('app_id', '=', appId);
  const read = async (query: Pick<ReturnType<typeof all>, 'execute'>) =>
    (await query.execute()).map(fromRow);
  const get = async (appId: string, number: number) => {
    const query = all().where('app_id', '=', appId).where('number', '=', number);
    const row = await query.executeTakeFirst();
    if (!row) throw failure.notFound('Deployment not found');
    return fromRow(row);
  };
  return {
    async insert({ app_id, trigger, source }) {
      const number = await store.transaction(async (trx) => {
        const last = await trx
          .selectFrom(TABLE)
          .select(trx.fn.max('number').as('number'))
          .where('app_id', '=', app_id)
          .executeTakeFirst();
        const next = (last?.number ?? 0) + 1;
        const created_at = new Date(now()).toISOString();
        const row = { app_id, number: next, trigger, source: JSON.stringify(source), created_at };
        await trx
          .insertInto(TABLE)
          .values({ ...row, status: 'pending' })
          .execute();
        return next;
      });
      return get(app_id, number);
    },
    async update({ app_id, number }, changes) {
      await change(app_id).set(toColumns(changes)).where('number', '=', number).execute();
    },
    list: (appId, limit) => read(newest(appId, limit)),
    get,
    async serving(app) {
      return get(app.id, deploymentNumber(app));
    },
    unfinished: () => read(all().where('status', 'in', UNFINISHED)),
    async supersede(appId, serving) {
      const earlier = change(appId).where('number', '!=', serving).where('status', '=', 'healthy');
      await earlier.set({ status: 'superseded' }).execute();
    },
    kept: (appId, count) => read(newest(appId, count).where('status', 'in', SUCCESSFUL)),
  };
}

function toColumns({ source, probes, log, processes, ...columns }: DeploymentChange) {
  const texts = Object.entries({ source, probes, log, processes })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, JSON.stringify(value)]);
  return { ...columns, ...Object.fromEntries(texts) };
}

const fromRow = (row: RowOf<typeof TABLE>): Deployment => ({
  ...row,
  source: JSON.parse(row.source),
  probes: JSON.parse(row.probes),
  log: JSON.parse(row.log),
  processes: JSON.parse(row.processes),
});
