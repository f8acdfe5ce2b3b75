import type { Kysely } from 'kysely';
import type { RequestContext, Principal } from '../context/request-context.ts';
import { requestOf } from '../context/context-family.ts';
import type { Store } from '../store/store.ts';
import { uuid7 } from '../store/uuid7.ts';

/** The table of the log. */
export const AUDIT_TABLE = 'twofold_audit';

/** Days that entries are kept. */
const KEPT_DAYS = 365;
const DAY = 86_400_000;

/**
 * The description of a change. It must not contain the value of a secret, of an environment
 * variable or of a credential.
 */
export interface AuditedChange {
  /** The id of the route, such as `disableUser`, or another name of the action. */
  readonly action: string;
  /** What was changed: `user:2`, or the name of an app; empty for the server itself. */
  readonly target: string;
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** One change, and who made it. */
export interface AuditEntry extends Required<AuditedChange> {
  readonly id: string;
  /** ISO 8601 in UTC. */
  readonly at: string;
  /** `user:1`, `key:<id>` or `host`. */
  readonly actor: string;
  /** The application that the session was opened for, such as `console`; `api` for all others. */
  readonly via: string;
  readonly ip: string;
  readonly request_id: string;
}

/** Which entries to read. A text that ends with `*` means every text with this beginning. */
export interface AuditQuestion {
  readonly target?: string | undefined;
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly via?: string | undefined;
  /** Milliseconds since 1970. */
  readonly since?: number | undefined;
  readonly limit: number;
  /** The `next_cursor` of an earlier page. */
  readonly cursor?: string | undefined;
}

export interface AuditPage {
  /** Newest first. */
  readonly entries: readonly AuditEntry[];
  readonly next_cursor: string | null;
}

/** The parts of a request that an entry names. */
export type AuditedRequest = Pick<RequestContext, 'principal' | 'ip' | 'id'>;

/**
 * The log of the changes that people and keys with permissions make, for all capabilities. The
 * calls of routes with a permission are recorded by `auditedRoute`, without a line in their
 * handlers; `record` is for changes that such a call does not name well enough, and for those that
 * no such route makes.
 */
export interface AuditLog {
  /**
   * Adds an entry, in the running transaction if there is one. The call of the route is then not
   * recorded once more.
   *
   * @example await kernel.audit?.record(context, { action: 'createData', target: 'posts:7', detail: { fields: ['title'] } });
   */
  record(context: AuditedRequest, change: AuditedChange): Promise<void>;
  /** Whether a handler has recorded this request, perhaps in a transaction that still runs. */
  stateOf(context: AuditedRequest): 'running' | 'committed' | undefined;
  list(question: AuditQuestion): Promise<AuditPage>;
  /** Deletes entries that are older than a year. @returns how many */
  prune(): Promise<number>;
}

/** The log in the table `twofold_audit`, which `auditMigrations` makes. */
export function createAuditLog({
  store,
  now,
}: {
  readonly store: Store;
  readonly now: () => number;
}): AuditLog {
  const states = new WeakMap<object, 'running' | 'committed'>();
  const nextId = increasingIds(now);
  return {
    async record(context, { action, target, detail = {} }) {
      const { principal, ip, id: request_id } = context;
      const entry = {
        id: nextId(),
        at: new Date(now()).toISOString(),
        ...{ actor: actorOf(principal), via: viaOf(principal), ip, action, target },
        detail: JSON.stringify(detail),
        request_id: request_id ?? '',
      };
      await store.db.insertInto(AUDIT_TABLE).values(entry).execute();
      const request = requestOf(context as RequestContext);
      states.set(request, 'running');
      store.afterCommit(() => void states.set(request, 'committed'));
    },
    stateOf: (context) => states.get(requestOf(context as RequestContext)),
    list: (question) => readPage(store.db, question),
    async prune() {
      const before = firstIdAt(now() - KEPT_DAYS * DAY);
      const old = store.db.selectFrom(AUDIT_TABLE).select('id').where('id', '<', before);
      // A start with nothing to remove asks for no lock: another program may hold that of SQLite.
      if (!(await old.limit(1).executeTakeFirst())) return 0;
      const gone = await store.db
        .deleteFrom(AUDIT_TABLE)
        .where('id', '<', before)
        .executeTakeFirst();
      return Number(gone.numDeletedRows);
    },
  };
}

/** Ids sort by time; those of one process also where two entries are of the same millisecond. */
function increasingIds(now: () => number): () => string {
  let last = 0;
  return () => uuid7((last = Math.max(now(), last + 1)));
}

/** The smallest id of an entry at that time. */
function firstIdAt(time: number): string {
  const hex = Math.max(0, time).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

const FILTERS = ['target', 'actor', 'action', 'via'] as const;

async function readPage(db: Kysely<any>, question: AuditQuestion): Promise<AuditPage> {
  const { since, limit, cursor } = question;
  let query = db
    .selectFrom(AUDIT_TABLE)
    .selectAll()
    .orderBy('id', 'desc')
    .limit(limit + 1);
  if (cursor !== undefined) query = query.where('id', '<', cursor);
  if (since !== undefined) query = query.where('id', '>=', firstIdAt(since));
  for (const name of FILTERS) {
    // PostgreSQL takes no text with this character.
    const wanted = question[name]?.replaceAll('\0', '');
    if (wanted?.endsWith('*')) {
      const begin = wanted.slice(0, -1);
      query = query.where((build) =>
        build(build.fn('substr', [name, build.val(1), build.val(begin.length)]), '=', begin),
      );
    } else if (wanted !== undefined) query = query.where(name, '=', wanted);
  }
  const rows = await query.execute();
  const entries = rows.slice(0, limit).map(entryOf);
  return { entries, next_cursor: rows.length > limit ? entries.at(-1)!.id : null };
}

const entryOf = ({ detail, ...row }: Record<string, any>): AuditEntry =>
  ({ ...row, detail: JSON.parse(detail) }) as AuditEntry;

/**
 * How the log names a caller: `user:1`, `key:<id>`, `host`. An administrator who acts as a user is
 * the actor of what they do.
 */
export function actorOf(principal: Principal): string {
  if (principal.kind === 'user') return `user:${principal.impersonator ?? principal.id}`;
  if (principal.kind === 'api_key') return `key:${principal.id}`;
  return principal.kind;
}

/** The application that the caller's session was opened for; `api` without one. */
export const viaOf = (principal: Principal): string =>
  ('client' in principal ? principal.client : undefined) ?? 'api';
