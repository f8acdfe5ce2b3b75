import { type Browser, openBrowser } from './browser.ts';
import { startServer, type TestServer, USER } from './server.ts';
import { type HostileProvider, startHostile } from './hostile-provider.ts';

export const callback = (name: string, origin = 'http://127.0.0.1:1') =>
  `${origin}/api/oauth/${name}/callback`;

/** A server with one provider, Google's preset, that does what the test says. */
export async function startWithProvider(
  options: Omit<Parameters<typeof startServer>[0], 'auth'> & {
    readonly origin?: string;
    readonly auth?: object;
  },
): Promise<{
  readonly server: TestServer;
  readonly provider: HostileProvider;
  close(): Promise<void>;
}> {
  const provider = await startHostile();
  const { origin, auth, ...rest } = options;
  const server = await startServer({
    entity: USER,
    ...rest,
    env: {
      GOOGLE_CLIENT_ID: 'shop',
      GOOGLE_CLIENT_SECRET: 'hush',
      GOOGLE_REDIRECT_URL: callback('google', origin),
      ...options.env,
    },
    auth: {
      ...auth,
      oauth: {
        providers: [{ name: 'google', preset: 'google', options: { issuer: provider.issuer } }],
      },
    },
  });
  return { server, provider, close: async () => (await server.close(), await provider.close()) };
}

/** From the start of a flow to the answer of its callback. */
export async function signIn(
  server: TestServer,
  provider: HostileProvider,
  query = '',
  cookies: Readonly<Record<string, string>> = {},
) {
  const browser = openBrowser();
  for (const [name, value] of Object.entries(cookies))
    browser.cookies.set(`${server.url} ${name}`, value);
  const begin = await browser.visit(`${server.url}/api/oauth/google${query}`);
  const location = new URL(begin.headers.get('location') ?? 'about:blank');
  provider.nonce = location.searchParams.get('nonce') ?? '';
  const finish = () =>
    browser.visit(
      `${server.url}/api/oauth/google/callback?code=c&state=${location.searchParams.get('state')}`,
    );
  return { begin, location, browser, finish };
}

/** `POST /api/oauth/exchange` of a page in a browser. */
export function exchange(
  { call, url }: TestServer,
  browser: Browser,
  body: object,
  headers: Readonly<Record<string, string>> = {},
) {
  const cookies = [...browser.cookies].flatMap(([name, value]) => {
    const [origin, cookie] = name.split(' ');
    return origin === url ? [`${cookie}=${value}`] : [];
  });
  return call('POST', '/api/oauth/exchange', body, { ...headers, Cookie: cookies.join('; ') });
}
