import { failure } from '@twofold/runtime/errors';
import type { Store } from '@twofold/runtime/kernel';
import type { Deployment, DeploymentStatus } from './app.ts';

export type DeploymentChange = Partial<
  Omit<Deployment, 'app_id' | 'number' | 'trigger' | 'created_at'>
>;

/** The deployments of every app. They are few and asked for seldom: always read from the database. */
export interface DeploymentRepository {
  /** Numbers count from 1 in each app. */
  insert(deployment: Pick<Deployment, 'app_id' | 'trigger' | 'source'>): Promise<Deployment>;
  update(
    deployment: Pick<Deployment, 'app_id' | 'number'>,
    change: DeploymentChange,
  ): Promise<void>;
  /** Newest first. */
  list(appId: string, limit: number): Promise<Deployment[]>;
  /** @throws AppError 404 `Deployment not found` */
  get(appId: string, number: number): Promise<Deployment>;
  /** Those that no server has brought to an end. */
  unfinished(): Promise<Deployment[]>;
  /** Of those that served, all but the one that does are superseded. */
  supersede(appId: string, serving: number): Promise<void>;
  /** The newest ones that served, the serving one included. */
  kept(appId: string, count: number): Promise<Deployment[]>;
}

const UNFINISHED: readonly DeploymentStatus[] = ['pending', 'building', 'deploying'];
const DOCUMENTS = ['source', 'probes', 'log'] as const;

export function createDeploymentRepository({
  store,
  now,
}: {
  readonly store: Store;
  readonly now: () => number;
}): DeploymentRepository {
  const { db } = store;
  const rows = () => db.selectFrom('hosting_deployments').selectAll();
  return {
    insert: ({ app_id, trigger, source }) =>
      store.transaction(async (trx) => {
        const last = await trx
          .selectFrom('hosting_deployments')
          .select(trx.fn.max('number').as('number'))
          .where('app_id', '=', app_id)
          .executeTakeFirst();
        const number = Number(last?.['number'] ?? 0) + 1;
        const row = {
          app_id,
          number,
          status: 'pending',
          trigger,
          source: JSON.stringify(source),
          created_at: new Date(now()).toISOString(),
        };
        await trx.insertInto('hosting_deployments').values(row).execute();
        return fromRow(
          await trx
            .selectFrom('hosting_deployments')
            .selectAll()
            .where('app_id', '=', app_id)
            .where('number', '=', number)
            .executeTakeFirstOrThrow(),
        );
      }),
    async update({ app_id, number }, change) {
      await db
        .updateTable('hosting_deployments')
        .set(toColumns(change))
        .where('app_id', '=', app_id)
        .where('number', '=', number)
        .execute();
    },
    list: async (appId, limit) =>
      (
        await rows().where('app_id', '=', appId).orderBy('number', 'desc').limit(limit).execute()
      ).map(fromRow),
    async get(appId, number) {
      const row = await rows()
        .where('app_id', '=', appId)
        .where('number', '=', number)
        .executeTakeFirst();
      if (!row) throw failure.notFound('Deployment not found');
      return fromRow(row);
    },
    unfinished: async () =>
      (
        await rows()
          .where('status', 'in', [...UNFINISHED])
          .execute()
      ).map(fromRow),
    async supersede(appId, serving) {
      await db
        .updateTable('hosting_deployments')
        .set({ status: 'superseded' })
        .where('app_id', '=', appId)
        .where('number', '!=', serving)
        .where('status', '=', 'healthy')
        .execute();
    },
    kept: async (appId, count) =>
      (
        await rows()
          .where('app_id', '=', appId)
          .where('status', 'in', ['healthy', 'superseded'])
          .orderBy('number', 'desc')
          .limit(count)
          .execute()
      ).map(fromRow),
  };
}

function toColumns(change: DeploymentChange): Record<string, unknown> {
  const columns: Record<string, unknown> = { ...change };
  for (const name of DOCUMENTS) if (name in change) columns[name] = JSON.stringify(change[name]);
  return columns;
}

function fromRow(row: Record<string, any>): Deployment {
  return {
    ...row,
    ...Object.fromEntries(DOCUMENTS.map((name) => [name, JSON.parse(row[name])])),
  } as Deployment;
}
