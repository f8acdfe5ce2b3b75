import type { Context as KoaContext } from 'koa';
import type { AuthParts } from '../parts.ts';
import { type AccessClaims, accessTokens, type Tokens } from './access-token.ts';
import type { LoginObject } from './sign-in.ts';

/** The session of the pages: a cookie whose token no endpoint accepts. */
export interface PagesSession {
  read(koa: KoaContext): string | null;
  /** Sets the cookie for the session of a login object. */
  keep(koa: KoaContext, login: LoginObject): void;
  clear(koa: KoaContext): void;
  /** Checks the token, which is signed with a key of its own. */
  readonly tokens: Tokens<AccessClaims>;
}

export function createPagesSession(parts: AuthParts): PagesSession {
  const { kernel, model, keys, config } = parts;
  const { leeway, issuer, audience, maxBytes } = model.jwt;
  const tokens = accessTokens({
    ...{ leeway, issuer, audience, maxBytes, now: kernel.now },
    ...{ sign: keys.derived('pages'), verify: keys.derivedAll('pages') },
  });
  // With `__Host-` a browser takes the cookie only from this host, and not from a subdomain.
  const name = `${config.secureCookies ? '__Host-' : ''}pages_session`;
  const set = (koa: KoaContext, value: string, seconds: number) =>
    koa.append(
      'Set-Cookie',
      `${name}=${value}; Max-Age=${seconds}; Path=/; HttpOnly; SameSite=Lax${config.secureCookies ? '; Secure' : ''}`,
    );
  return {
    tokens,
    read: (koa) => koa.cookies.get(name) ?? null,
    keep(koa, login) {
      const claims = parts.accessTokens.verify(login.accessToken);
      if (!claims) return;
      const { user_id, iat, jti, sid } = claims;
      const { enabled, idle, absolute } = model.refresh;
      const life = enabled ? Math.min(idle, absolute) : model.jwt.ttl;
      const exp = Math.floor((kernel.now() + life) / 1000);
      const token = tokens.sign({ user_id, iat, jti, sid, exp, extend: {} });
      set(koa, token, exp - Math.floor(kernel.now() / 1000));
    },
    clear: (koa) => void set(koa, '', 0),
  };
}

/**
 * Who signs in to an application of this server, such as the console, is signed in to its pages as
 * well: they are of one origin, and the pages show no more than the session may see.
 */
export function shareWithPages(parts: AuthParts, koa: KoaContext, login: LoginObject): void {
  if (parts.model.pages !== false) createPagesSession(parts).keep(koa, login);
}
