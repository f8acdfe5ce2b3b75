import { createSecretKey, type KeyObject } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import jwt from 'jsonwebtoken';
import type { Maybe } from './peer-source.ts';

/** The user behind the session of a token, if both still count. */
export type SessionLookup = (sid: string, jti: string) => Maybe<SessionUser | undefined>;

interface SessionUser {
  /** Text where a driver gives a `bigint` as text. */
  readonly user_id: number | string;
}

/** The caller of a request by its `Authorization` header, or null when nobody is signed in. */
export type SignIn = (authorization: string | undefined) => Maybe<number | null>;

interface Claims {
  readonly user_id: number;
  readonly sid: string;
  readonly jti: string;
}

/**
 * What this server asks of its store for each request: the session is alive, the token was not revoked, the user is there,
 * enabled, and has not ended all sessions since. `parameter` writes the placeholder of session, now and token.
 */
const statement = (parameter: (index: 1 | 2 | 3) => string) =>
  `select s.user_id from auth_sessions s
   join users u on u.id = s.user_id
   left join auth_users a on a.user_id = u.id
   where s.id = ${parameter(1)} and s.revoked_at is null
     and s.idle_expires_at > ${parameter(2)} and s.absolute_expires_at > ${parameter(2)}
     and not exists (select 1 from auth_revoked_tokens t where t.jti = ${parameter(3)})
     and a.disabled_at is null and (a.tokens_valid_after = 0 or s.rotated_at >= a.tokens_valid_after)`;

export function sqliteLookup(database: DatabaseSync): SessionLookup {
  const session = database.prepare(statement((index) => `?${index}`));
  return (sid, jti) => session.get(sid, Date.now(), jti) as SessionUser | undefined;
}

/** @param ask runs a named, prepared statement. */
export function postgresLookup(
  ask: (name: string, text: string, values: unknown[]) => Promise<SessionUser[]>,
): SessionLookup {
  const text = statement((index) => `$${index}`);
  return async (sid, jti) => (await ask('session', text, [sid, Date.now(), jti]))[0];
}

/** @param lookup absent: the signature alone is checked. */
export function createSignIn(lookup?: SessionLookup): SignIn {
  const key = createSecretKey(Buffer.from(process.env['JWT_SECRET'] ?? '', 'utf8'));
  return (authorization) => {
    const claims = readToken(authorization, key);
    if (!claims || !lookup) return claims && claims.user_id;
    const accept = (found: SessionUser | undefined) =>
      Number(found?.user_id) === claims.user_id ? claims.user_id : null;
    const found = lookup(claims.sid, claims.jti);
    return found instanceof Promise ? found.then(accept) : accept(found);
  };
}

function readToken(authorization: string | undefined, key: KeyObject): Claims | null {
  if (!authorization?.startsWith('Bearer ')) return null;
  try {
    return jwt.verify(authorization.slice('Bearer '.length), key, {
      algorithms: ['HS256'],
    }) as unknown as Claims;
  } catch {
    return null;
  }
}
