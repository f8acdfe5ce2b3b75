import { failure } from '@twofold/runtime/errors';
import { uuid7 } from '@twofold/runtime/kernel';
import { DEFAULT_TIMEOUT_S, type Run, type RunRequest } from '../records/run.ts';
import type { HostingStore, RowOf, RunStatus } from '../records/tables.ts';

export type RunChange = Partial<Pick<Run, 'status' | 'exit_code' | 'container' | 'finished_at'>> & {
  readonly log?: string;
};

export interface RunFilter {
  readonly cron?: string | undefined;
  readonly status?: RunStatus | undefined;
}

/** The runs of all apps. */
export interface RunRepository {
  insert(
    app: { readonly id: string; readonly deployment: number },
    asked: RunRequest,
  ): Promise<Run>;
  update(id: string, change: RunChange): Promise<void>;
  /** Newest first. */
  list(appId: string, filter?: RunFilter): Promise<Run[]>;
  /** @throws AppError 404 `Run not found` */
  get(appId: string, id: string): Promise<Run>;
  log(id: string): Promise<string | null>;
  unfinished(): Promise<Run[]>;
  /** Deletes the finished runs of an app, except the newest ones. */
  prune(appId: string): Promise<void>;
}

/** How many runs of an app are kept, with their logs. */
const KEPT_RUNS = 100;

const TABLE = 'hosting_runs';
/** Everything but the log. */
const COLUMNS = [
  'id',
  'app_id',
  'purpose',
  'cron',
  'command',
  'status',
  'exit_code',
  'deployment',
  'timeout_s',
  'at',
  'container',
  'started_at',
  'finished_at',
] as const;

export function createRunRepository(store: HostingStore, now: () => number): RunRepository {
  const { db } = store;
  const select = () => db.selectFrom(TABLE).select(COLUMNS).orderBy('id', 'desc');
  const read = async (query: ReturnType<typeof select>) => (await query.execute()).map(fromRow);
  return {
    async insert(app, asked) {
      const run = newRun(app, asked, now());
      await db
        .insertInto(TABLE)
        .values({ ...run, command: JSON.stringify(run.command) })
        .execute();
      return run;
    },
    async update(id, change) {
      await db.updateTable(TABLE).set(change).where('id', '=', id).execute();
    },
    list(appId, { cron, status } = {}) {
      let query = select().where('app_id', '=', appId);
      if (cron !== undefined) query = query.where('cron', '=', cron);
      if (status !== undefined) query = query.where('status', '=', status);
      return read(query);
    },
    async get(appId, id) {
      const [run] = await read(select().where('app_id', '=', appId).where('id', '=', id));
      if (run) return run;
      throw failure.notFound('Run not found');
    },
    async log(id) {
      const query = db.selectFrom(TABLE).select('log').where('id', '=', id);
      return (await query.executeTakeFirst())?.log ?? null;
    },
    unfinished: () => read(select().where('status', '=', 'running')),
    prune: (appId) => prune(store, appId),
  };
}

function newRun(
  { id, deployment }: { readonly id: string; readonly deployment: number },
  { command, timeout_s = DEFAULT_TIMEOUT_S, purpose = 'call', cron, at }: RunRequest,
  now: number,
): Run {
  return {
    id: uuid7(now),
    app_id: id,
    purpose,
    cron: cron ?? null,
    command,
    status: 'running',
    exit_code: null,
    deployment,
    timeout_s,
    at: at ?? null,
    container: null,
    started_at: new Date(now).toISOString(),
    finished_at: null,
  };
}

async function prune({ db }: HostingStore, appId: string): Promise<void> {
  const finished = () =>
    db.selectFrom(TABLE).select('id').where('app_id', '=', appId).where('status', '!=', 'running');
  const oldest = await finished()
    .orderBy('id', 'desc')
    .offset(KEPT_RUNS - 1)
    .limit(1)
    .executeTakeFirst();
  if (!oldest) return;
  await db
    .deleteFrom(TABLE)
    .where('app_id', '=', appId)
    .where('status', '!=', 'running')
    .where('id', '<', oldest.id)
    .execute();
}

const fromRow = (row: Omit<RowOf<typeof TABLE>, 'log'>): Run => ({
  ...row,
  command: JSON.parse(row.command),
});
