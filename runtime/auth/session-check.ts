import type { Store } from '@twofold/runtime/kernel';
import type { NowOrLater } from './and-then.ts';
import type { UserId } from './ids.ts';
import { permissionList, type RolesModel, splitPermissions } from './permissions.ts';
import type { UserDirectory } from './user-directory.ts';

/** The live session of a token, with the permissions of its user. */
export interface CheckedSession {
  readonly userId: UserId | null;
  readonly principal: 'user' | 'host';
  readonly role: { readonly id: number; readonly name: string } | null;
  readonly permissions: readonly string[];
}

/** The claims of a token that identify its session. */
export interface SessionClaim {
  readonly sid: string;
  readonly jti: string;
  /** Unix seconds. */
  readonly iat: number;
  /** Absent in a token of the operator. */
  readonly user_id?: UserId | null;
}

/**
 * Checks in the database whether a token is still valid; null when it is not. For the same claim
 * object the last result may be reused.
 */
export type SessionCheck = (claim: SessionClaim) => NowOrLater<CheckedSession | null>;

export interface SessionCheckOptions {
  readonly store: Store;
  readonly directory: UserDirectory;
  readonly roles: RolesModel;
  readonly now: () => number;
  /** Called with the stored time of last use, each time a session is used. */
  readonly onSeen: (sid: string, lastSeen: number) => void;
}

/** A result of the database. It is valid until `until`, if nothing is written before. */
interface FoundSession extends CheckedSession {
  readonly sid: string;
  readonly lastSeen: number;
  readonly until: number;
}

/**
 * Checks every token against the database on every request, with one prepared statement. With
 * SQLite the change counter of the file is read first: the last result is valid until any process
 * commits.
 */
export function createSessionCheck(options: SessionCheckOptions): SessionCheck {
  const { store, now, onSeen } = options;
  const statement = checkStatement(store, options.directory, options.roles);
  const parametersOf = ({ sid, jti, iat }: SessionClaim) => [sid, now(), now(), jti, iat];
  const use = (found: FoundSession | null) => {
    if (found) onSeen(found.sid, found.lastSeen);
    return found;
  };
  const { valueNow } = store;
  if (!valueNow)
    return (claim) =>
      store
        .valueLater(statement, parametersOf(claim))
        .then((text) => use(parseSession(claim, text)));
  const kept = new WeakMap<SessionClaim, { readonly found: FoundSession; readonly at: unknown }>();
  return (claim) => {
    const at = valueNow(CHANGE_COUNTER, []);
    const last = kept.get(claim);
    if (last && last.at === at && last.found.until > now()) return use(last.found);
    const text = valueNow(statement, parametersOf(claim)) as string | undefined;
    const found = parseSession(claim, text ?? null);
    if (found) kept.set(claim, { found, at });
    return use(found);
  };
}

/**
 * User, principal, time of last use, time of expiry. If the manifest has roles, also the role's id,
 * name and permissions.
 */
type Row = readonly [
  UserId | null,
  'user' | 'host',
  number,
  number,
  (number | null)?,
  (string | null)?,
  (string | null)?,
];

/** Returns another number after each commit of another connection, also of another process. */
const CHANGE_COUNTER = 'pragma data_version';

function parseSession(
  { sid, user_id = null }: SessionClaim,
  text: string | null,
): FoundSession | null {
  if (text === null) return null;
  const [userId, principal, lastSeen, until, roleId, roleName, permissions] = JSON.parse(
    text,
  ) as Row;
  if (userId !== user_id) return null;
  return {
    sid,
    userId,
    principal,
    lastSeen,
    until,
    role: roleId && roleName ? { id: roleId, name: roleName } : null,
    permissions: splitPermissions(permissions),
  };
}

/**
 * SQL for the session of a token as one JSON text. It finds a row only if the session is live, the
 * token is not blacklisted and not older than `tokens_valid_after`, and the user exists and is
 * enabled. `iat` has whole seconds, so a token of the same second as `tokens_valid_after` is judged
 * by the time at which its session was opened or last rotated: a sign-in right after a logout-all
 * works, and no older token does.
 *
 * Parameters: session, now, now, token id, `iat`.
 */
function checkStatement(
  { dialect }: Store,
  { table, live }: UserDirectory,
  roles: RolesModel,
): string {
  const postgres = dialect === 'postgres';
  const [sid, idle, absolute, jti, iat] = postgres
    ? ['$1', '$2', '$3', '$4', '$5']
    : ['?', '?', '?', '?', '?'];
  const until = `${postgres ? 'least' : 'min'}(s.idle_expires_at, s.absolute_expires_at)`;
  const columns = `s.user_id, s.principal, s.last_seen_at, ${until}${roles ? `, r.id, r.name, ${permissionList(dialect, roles)}` : ''}`;
  return `select ${postgres ? `json_build_array(${columns})::text` : `json_array(${columns})`} as session
    from auth_sessions s
    left join "${table}" u on u.id = s.user_id${live}
    left join auth_users a on a.user_id = u.id${roles ? '\n    left join auth_roles r on r.id = a.role_id' : ''}
    where s.id = ${sid} and s.revoked_at is null and s.idle_expires_at > ${idle} and s.absolute_expires_at > ${absolute}
      and not exists (select 1 from auth_revoked_tokens t where t.jti = ${jti})
      and (s.principal = 'host' or (u.id is not null and a.disabled_at is null
        and (a.tokens_valid_after = 0 or (${iat} >= a.tokens_valid_after / 1000 and s.rotated_at >= a.tokens_valid_after))))`;
}
