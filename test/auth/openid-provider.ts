import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';
import type { Browser } from './browser.ts';

export const CLIENT = { id: 'shop', secret: 'the client secret of the tests' };

/**
 * A certified OpenID provider on loopback, with people who have the claims given. It also lists addresses at
 * `/user/emails`, as GitHub does, to whoever has a live access token.
 */
export async function startOpenId(
  redirectUrl: string | readonly string[],
  people: Readonly<Record<string, object>>,
) {
  const http = createServer();
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [redirectUrl].flat(),
        grant_types: ['authorization_code'],
        response_types: ['code'],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    claims: {
      openid: ['sub', 'id', 'login', 'avatar_url'],
      email: ['email', 'email_verified'],
      profile: ['name', 'picture'],
    },
    findAccount: (_, id) => ({ accountId: id, claims: async () => ({ sub: id, ...people[id] }) }),
    pkce: { required: () => true },
    cookies: { keys: ['cookie key of the tests'] },
  });
  provider.use(async (ctx, next) => {
    if (ctx.path !== '/user/emails') return next();
    const token = await provider.AccessToken.find(
      (ctx.headers.authorization ?? '').replace('Bearer ', ''),
    );
    if (!token) return void (ctx.status = 401);
    ctx.body = (people[token.accountId!] as { emails?: unknown }).emails ?? [];
  });
  http.on('request', provider.callback());
  return {
    issuer,
    close: async () => {
      http.closeAllConnections();
      await new Promise<void>((resolve) => http.close(() => resolve()));
    },
  };
}

/** Goes through the provider's pages as `person`, or cancels. @returns the address that it sends back to. */
export function signInAt(
  browser: Browser,
  location: string,
  redirectUrl: string,
  person: string | null,
): Promise<URL> {
  return browser.follow(location, redirectUrl, (html, url) => {
    const action = /<form[^>]*action="([^"]+)"/.exec(html)?.[1];
    if (person === null) return { action: `${url}/abort`, form: null };
    if (!action) return null;
    const prompt = /name="prompt" value="(\w+)"/.exec(html)?.[1] ?? 'login';
    return {
      action,
      form: prompt === 'login' ? { prompt, login: person, password: 'any' } : { prompt },
    };
  });
}
