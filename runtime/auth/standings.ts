import type { Store } from '@twofold/runtime/kernel';
import type { NowOrLater } from './and-then.ts';
import type { UserId } from './ids.ts';
import { permissionList, type RolesModel, splitPermissions } from './permissions.ts';
import type { UserDirectory } from './user-directory.ts';

/** What the store says of the session behind a token. */
export interface Standing {
  readonly userId: UserId | null;
  readonly principal: 'user' | 'host';
  readonly role: { readonly id: number; readonly name: string } | null;
  readonly permissions: readonly string[];
}

/** What a token claims of its session. */
export interface SessionClaim {
  readonly sid: string;
  readonly jti: string;
  /** Unix seconds. */
  readonly iat: number;
  /** Absent in a token of the operator. */
  readonly user_id?: UserId | null;
}

/** Asks the store whether tokens still count. */
export interface Standings {
  /** Null when the token counts no longer. The same claim object asked again may be answered from the last time. */
  check(claim: SessionClaim): NowOrLater<Standing | null>;
}

export interface StandingOptions {
  readonly store: Store;
  readonly directory: UserDirectory;
  readonly roles: RolesModel;
  readonly now: () => number;
  /** Told that a session is in use: it was last seen at `lastSeen`. */
  readonly onSeen: (sid: string, lastSeen: number) => void;
}

/** An answer of the store with its session, and until when it holds if nothing is written. */
interface Found extends Standing {
  readonly sid: string;
  readonly lastSeen: number;
  readonly until: number;
}

/**
 * Every token is held against the store on every request, in one prepared statement. Where the database is a file in this
 * process, its own change counter comes first: as long as nobody, in any process, has committed anything, the answer of the
 * last time is the answer.
 */
export function createStandings(options: StandingOptions): Standings {
  const { store, now, onSeen } = options;
  const statement = checkStatement(store, options.directory, options.roles);
  const parametersOf = ({ sid, jti, iat }: SessionClaim) => [sid, now(), now(), jti, iat];
  const use = (found: Found | null) => {
    if (found) onSeen(found.sid, found.lastSeen);
    return found;
  };
  const { valueNow } = store;
  if (!valueNow) {
    return {
      check: (claim) =>
        store.valueLater(statement, parametersOf(claim)).then((text) => use(read(claim, text))),
    };
  }
  const kept = new WeakMap<SessionClaim, { readonly found: Found; readonly at: unknown }>();
  return {
    check: (claim) => {
      const at = valueNow(VERSION, []);
      const last = kept.get(claim);
      if (last && last.at === at && last.found.until > now()) return use(last.found);
      const found = read(
        claim,
        (valueNow(statement, parametersOf(claim)) as string | undefined) ?? null,
      );
      if (found) kept.set(claim, { found, at });
      return use(found);
    },
  };
}

/** User, principal, when last seen, until when; and only where the manifest has roles, the role's id, name and permissions. */
type Row = readonly [
  UserId | null,
  'user' | 'host',
  number,
  number,
  (number | null)?,
  (string | null)?,
  (string | null)?,
];

/** Another number after any commit, also of another process. */
const VERSION = 'pragma data_version';

function read({ sid, user_id = null }: SessionClaim, text: string | null): Found | null {
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
 * The session behind a token as one JSON text, if it counts: alive, not blacklisted, its user there and enabled, the token
 * not older than `tokens_valid_after`. `iat` has whole seconds, so one of the same second is judged by when the session was
 * opened or last rotated: a sign-in right after a logout-all works, every older token does not.
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
  return `select ${postgres ? `json_build_array(${columns})::text` : `json_array(${columns})`} as standing
    from auth_sessions s
    left join "${table}" u on u.id = s.user_id${live}
    left join auth_users a on a.user_id = u.id${roles ? '\n    left join auth_roles r on r.id = a.role_id' : ''}
    where s.id = ${sid} and s.revoked_at is null and s.idle_expires_at > ${idle} and s.absolute_expires_at > ${absolute}
      and not exists (select 1 from auth_revoked_tokens t where t.jti = ${jti})
      and (s.principal = 'host' or (u.id is not null and a.disabled_at is null
        and (a.tokens_valid_after = 0 or (${iat} >= a.tokens_valid_after / 1000 and s.rotated_at >= a.tokens_valid_after))))`;
}
