import { type RequestContext, type Store, uuid7 } from '@twofold/runtime/kernel';

export interface AuditEntry {
  readonly at: string;
  readonly actor: string;
  readonly ip: string;
  readonly action: string;
  readonly target: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

/**
 * Records who changed what, and from which address, but never values of environments and secrets.
 */
export interface AuditLog {
  record(
    context: Pick<RequestContext, 'principal' | 'ip'>,
    entry: Pick<AuditEntry, 'action' | 'target' | 'detail'>,
  ): Promise<void>;
  /** Newest first. */
  list(options: {
    readonly limit: number;
    readonly target?: string | undefined;
  }): Promise<AuditEntry[]>;
}

export function createAuditLog({
  store,
  now,
}: {
  readonly store: Store;
  readonly now: () => number;
}): AuditLog {
  return {
    async record({ principal, ip }, { action, target, detail }) {
      const entry = {
        id: uuid7(now()),
        at: new Date(now()).toISOString(),
        actor: actorOf(principal),
        ip,
        action,
        target,
        detail: JSON.stringify(detail),
      };
      await store.db.insertInto('hosting_audit').values(entry).execute();
    },
    async list({ limit, target }) {
      const all = store.db
        .selectFrom('hosting_audit')
        .select(['at', 'actor', 'ip', 'action', 'target', 'detail'])
        .orderBy('id', 'desc')
        .limit(limit);
      const rows = await (target === undefined ? all : all.where('target', '=', target)).execute();
      return rows.map((row) => ({ ...row, detail: JSON.parse(row.detail) })) as AuditEntry[];
    },
  };
}

function actorOf(principal: RequestContext['principal']): string {
  if (principal.kind === 'user') return `user:${principal.id}`;
  if (principal.kind === 'api_key') return `key:${principal.id}`;
  return principal.kind;
}
