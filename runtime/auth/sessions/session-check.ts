import type { Organizations } from '@twofold/schema';
import { CHANGE_COUNTER, type Dialect, type Membership, type Store } from '@twofold/runtime/kernel';
import DataLoader from 'dataloader';
import type { NowOrLater } from '../base/and-then.ts';
import type { UserId } from '../base/ids.ts';
import { membershipList, type MembershipRow, toMemberships } from '../users/memberships.ts';
import { permissionList, type RolesModel, splitPermissions } from '../users/permissions.ts';
import type { UserDirectory } from '../users/user-directory.ts';

/** The live session of a token, with the permissions of its user. */
export interface CheckedSession {
  readonly userId: UserId | null;
  readonly principal: 'user' | 'host';
  readonly role: { readonly id: number; readonly name: string } | null;
  readonly permissions: readonly string[];
  /** The administrator who acts as the user in this session, or null. */
  readonly impersonator: UserId | null;
  readonly amr: readonly string[];
  /** The application that the session was opened for, or null. */
  readonly client: string | null;
  /** Absent when the project has no organizations. */
  readonly organizations?: readonly Membership[];
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
  /** Null where only the operator signs in: there are no tables of users then. */
  readonly directory: UserDirectory | null;
  readonly roles: RolesModel;
  readonly organizations: Organizations | undefined;
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
 * Checks every token against the database on every request. With PostgreSQL one prepared statement
 * checks all tokens of a tick of the event loop. With SQLite the change counter of the file is read
 * first: the last result is valid until any process commits.
 */
export function createSessionCheck(options: SessionCheckOptions): SessionCheck {
  const { store, now, onSeen } = options;
  const use = (found: FoundSession | null) => {
    if (found) onSeen(found.sid, found.lastSeen);
    return found;
  };
  if (store.dialect === 'postgres') {
    const sessions = sessionLoader(options);
    return (claim) => sessions.load(claim).then(use);
  }
  const statement = sqliteStatement(options);
  const ofUser = ({ iat }: SessionClaim) => (options.directory ? [iat, now()] : []);
  const parametersOf = (claim: SessionClaim) => [
    claim.sid,
    now(),
    now(),
    claim.jti,
    ...ofUser(claim),
  ];
  const parse = (claim: SessionClaim, text: string | null | undefined) =>
    parseSession(claim, text == null ? null : (JSON.parse(text) as Row));
  const { valueNow } = store;
  // A database in memory answers in a later turn of the event loop.
  if (!valueNow)
    return (claim) =>
      store.valueLater(statement, parametersOf(claim)).then((text) => use(parse(claim, text)));
  const kept = new WeakMap<SessionClaim, { readonly found: FoundSession; readonly at: unknown }>();
  return (claim) => {
    const at = valueNow(CHANGE_COUNTER, []);
    const last = kept.get(claim);
    if (last && last.at === at && last.found.until > now()) return use(last.found);
    const found = parse(claim, valueNow(statement, parametersOf(claim)) as string | undefined);
    if (found) kept.set(claim, { found, at });
    return use(found);
  };
}

/**
 * User, principal, time of last use, time of expiry, impersonator, factors, application,
 * organizations. If the manifest has roles, also the role's id, name and permissions.
 */
type Row = readonly [
  UserId | null,
  'user' | 'host',
  number,
  number,
  UserId | null,
  string | null,
  string | null,
  readonly MembershipRow[] | null,
  (number | null)?,
  (string | null)?,
  (string | null)?,
];

function parseSession({ sid, user_id = null }: SessionClaim, row: Row | null): FoundSession | null {
  if (row === null) return null;
  const [userId, principal, lastSeen, until, impersonator, amr, client, ...rest] = row;
  const [organizations, ...ofRole] = rest;
  const [roleId, roleName, permissions] = ofRole;
  if (userId !== user_id) return null;
  return {
    sid,
    userId,
    principal,
    lastSeen,
    until,
    impersonator,
    client,
    role: roleId && roleName ? { id: roleId, name: roleName } : null,
    permissions: splitPermissions(permissions),
    amr: factorsOf(amr ?? 'pwd'),
    ...(organizations && { organizations: toMemberships(organizations) }),
  };
}

const FACTORS = new Map<string, readonly string[]>();

/** There are few different lists of factors, so each is made once. */
function factorsOf(text: string): readonly string[] {
  const known = FACTORS.get(text);
  if (known) return known;
  const factors = Object.freeze(text.split(' ').filter(Boolean));
  FACTORS.set(text, factors);
  return factors;
}

/**
 * Reads the sessions of all tokens that are checked in the same tick with one statement. Nothing is
 * remembered: each request of the next tick asks the database again.
 */
function sessionLoader(
  options: SessionCheckOptions,
): DataLoader<SessionClaim, FoundSession | null> {
  const { store, now } = options;
  const statement = postgresStatement(options);
  const find = async (claims: readonly SessionClaim[]) => {
    const distinct = [...new Set(claims)];
    const text = await store.valueLater(statement, [
      now(),
      distinct.map(({ sid }) => sid),
      distinct.map(({ jti }) => jti),
      distinct.map(({ iat }) => iat),
    ]);
    const rows = JSON.parse(text ?? '[]') as readonly (Row | null)[];
    const found = new Map(
      distinct.map((claim, index) => [claim, parseSession(claim, rows[index] ?? null)]),
    );
    return claims.map((claim) => found.get(claim) ?? null);
  };
  return new DataLoader(find, { cache: false, maxBatchSize: MAX_CHECKS });
}

/** Limits the parameters of one statement. */
const MAX_CHECKS = 500;

/** Parameters: session, now, now, token id and, for users, `iat`, now. */
function sqliteStatement(options: SessionCheckOptions): string {
  const { directory, roles } = options;
  const columns = sessionColumns('sqlite', options);
  return `select json_array(${columns}) as session
    ${liveSessions(directory, roles, { sid: '?', now: '?', jti: '?', iat: '?' })}`;
}

/**
 * An array with one element for each token, in their order; null for a token that is not valid.
 * Parameters: now, and arrays of sessions, token ids and `iat`.
 */
function postgresStatement(options: SessionCheckOptions): string {
  const { directory, roles } = options;
  const columns = sessionColumns('postgres', options);
  return `select json_agg(found.session order by c.place)::text as sessions
    from unnest($2::text[], $3::text[], $4::bigint[]) with ordinality as c(sid, jti, iat, place)
    left join lateral (select json_build_array(${columns}) as session
    ${liveSessions(directory, roles, { sid: 'c.sid', now: '$1', jti: 'c.jti', iat: 'c.iat' })}) found on true`;
}

function sessionColumns(dialect: Dialect, { roles, organizations }: SessionCheckOptions): string {
  const until = `${dialect === 'postgres' ? 'least' : 'min'}(s.idle_expires_at, s.absolute_expires_at)`;
  const member = organizations ? membershipList(dialect, organizations, 's.user_id') : 'null';
  const ofRole = roles ? `, r.id, r.name, ${permissionList(dialect, roles)}` : '';
  return `s.user_id, s.principal, s.last_seen_at, ${until}, s.impersonated_by, s.amr, s.client, ${member}${ofRole}`;
}

/** The SQL of each value of a token. */
interface ClaimSql {
  readonly sid: string;
  readonly now: string;
  readonly jti: string;
  readonly iat: string;
}

/**
 * Finds a row only if the session is live, the token is not blacklisted and not older than
 * `tokens_valid_after`, and the user exists and is enabled. `iat` has whole seconds, so a token of
 * the same second as `tokens_valid_after` is judged by the time at which its session was opened or
 * last rotated: a sign-in right after a logout-all works, and no older token does.
 */
function liveSessions(
  directory: UserDirectory | null,
  roles: RolesModel,
  { sid, now, jti, iat }: ClaimSql,
): string {
  const users =
    directory &&
    `left join ${directory.rows} u on u.id = s.user_id${directory.live}
    left join auth_users a on a.user_id = u.id${roles ? '\n    left join auth_roles r on r.id = a.role_id' : ''}`;
  const isLive = `(u.id is not null and a.deletion_at is null
        and (a.tokens_valid_after = 0 or (${iat} >= a.tokens_valid_after / 1000 and s.rotated_at >= a.tokens_valid_after))
        and (a.disabled_at is null or a.disabled_until <= ${now}))`;
  return `from auth_sessions s ${users ?? ''}
    where s.id = ${sid} and s.revoked_at is null and s.idle_expires_at > ${now} and s.absolute_expires_at > ${now}
      and not exists (select 1 from auth_revoked_tokens t where t.jti = ${jti})
      and (s.principal = 'host'${users ? ` or ${isLive}` : ''})`;
}
