import { describe, expect, it } from 'vitest';
import { auth } from '../../runtime/auth/auth.ts';
import { readAuthConfig } from '../../runtime/auth/config.ts';
import { DEFAULT_AUTH } from '../../runtime/auth/base/defaults.ts';
import { createSettings } from '../../runtime/core/config/settings.ts';
import { ConfigError } from '../../runtime/core/errors.ts';
import { createServer } from '../../runtime/core/server.ts';
import { API_KEY, describeEachDatabase, SECRET, startServer } from './harness.ts';

const MODEL = DEFAULT_AUTH;

function problems(env: Record<string, string>, model = MODEL, users = true): readonly string[] {
  const settings = createSettings({ JWT_SECRET: SECRET, ...env });
  readAuthConfig(settings, { model, users, host: true });
  try {
    settings.assert();
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

describe('§2.0 boot checks', () => {
  it('a strong secret and nothing else is fine', () => {
    expect(problems({})).toEqual([]);
  });

  for (const secret of [
    '',
    '  ',
    'secret',
    'changeme',
    'change_me_in_production_please_do_it_now',
    'my_super_secret_key_1234567890123456',
    'short',
  ]) {
    it(`JWT_SECRET ${JSON.stringify(secret)} is refused, and its value is not shown`, () => {
      const found = problems({ JWT_SECRET: secret });
      expect(found).toHaveLength(1);
      expect(found[0]).toContain('JWT_SECRET');
      if (secret.length > 6 && secret.trim()) expect(found[0]).not.toContain(secret);
    });
  }

  for (const key of ['api', 'test_api_key', 'change_me_please_now', 'too short']) {
    it(`API_KEY ${JSON.stringify(key)} is refused`, () => {
      expect(problems({ API_KEY: key })[0]).toContain('API_KEY');
    });
  }

  it('weak secrets are let through with AUTH_ALLOW_WEAK_SECRETS, but not in production, and a missing one never', () => {
    expect(
      problems({ JWT_SECRET: 'secret', API_KEY: 'api', AUTH_ALLOW_WEAK_SECRETS: '1' }),
    ).toEqual([]);
    expect(problems({ JWT_SECRET: '', AUTH_ALLOW_WEAK_SECRETS: '1' })).toHaveLength(1);
    expect(
      problems({
        JWT_SECRET: 'secret',
        AUTH_ALLOW_WEAK_SECRETS: '1',
        NODE_ENV: 'production',
      }).join(),
    ).toMatch(/AUTH_ALLOW_WEAK_SECRETS.*JWT_SECRET/s);
    expect(
      problems({ JWT_SECRET: 'secret', AUTH_ALLOW_WEAK_SECRETS: '1', ENV: 'production' }),
    ).toHaveLength(3);
  });

  it('production demands APP_URL, by https unless it is this machine', () => {
    const of = (url: string | undefined, users = true) =>
      problems(
        { NODE_ENV: 'production', ...(url !== undefined && { APP_URL: url }) },
        MODEL,
        users,
      );
    for (const url of [undefined, '', 'http://shop.test', 'ftp://shop.test', 'shop.test'])
      expect([url, of(url)]).toEqual([url, [expect.stringContaining('APP_URL')]]);
    for (const url of [
      'https://shop.test',
      'http://localhost:8080',
      'http://127.0.0.1',
      'http://shop.apps.localhost:8080',
    ])
      expect([url, of(url)]).toEqual([url, []]);
    expect(of(undefined, false)).toEqual([]);
    expect(problems({ APP_URL: 'http://shop.test' })).toEqual([]);
  });

  it('limits cannot be off in production', () => {
    expect(problems({ RATE_LIMIT_ENABLED: 'false' })).toEqual([]);
    const strict = { RATE_LIMIT_ENABLED: 'false', NODE_ENV: 'production' };
    expect(problems(strict).join()).toContain('RATE_LIMIT_ENABLED');
  });

  const google = (env: Record<string, string>) =>
    problems({
      GOOGLE_CLIENT_ID: 'id',
      GOOGLE_CLIENT_SECRET: 'secret',
      GOOGLE_REDIRECT_URL: 'https://shop.test/api/oauth/google/callback',
      ...env,
    });
  it('a provider is whole or off', () => {
    expect(google({})).toEqual([]);
    expect(google({ GOOGLE_CLIENT_SECRET: '' })[0]).toContain('GOOGLE_CLIENT_SECRET');
    expect(google({ GOOGLE_REDIRECT_URL: '' })[0]).toContain('GOOGLE_REDIRECT_URL');
    expect(
      problems({ GOOGLE_REDIRECT_URL: 'https://shop.test/api/oauth/google/callback' }),
    ).toEqual([]);
  });

  for (const url of [
    'https://shop.test/callback',
    'http://shop.test/api/oauth/google/callback',
    'https://shop.test/api/oauth/google/callback#x',
    'https://shop.test/api/oauth/github/callback',
    'not a url',
  ]) {
    it(`the redirect address ${url} is refused`, () => {
      expect(google({ GOOGLE_REDIRECT_URL: url })[0]).toContain('GOOGLE_REDIRECT_URL');
    });
  }

  it('the redirect address may be http on loopback', () => {
    expect(
      google({ GOOGLE_REDIRECT_URL: 'http://localhost:8080/api/oauth/google/callback' }),
    ).toEqual([]);
  });

  it('provider names, cost, leeway, refresh times and webhooks are checked', () => {
    const provider = (name: string) => ({ name, preset: 'google', options: {} });
    const withProviders = (...names: string[]) => ({
      ...MODEL,
      oauth: { ...MODEL.oauth, providers: names.map(provider) },
    });
    expect(problems({}, withProviders('acme', 'acme'))[0]).toContain('twice');
    expect(problems({}, withProviders('mydefaults'))[0]).toContain('mydefaults');
    expect(problems({}, withProviders('exchange'))[0]).toContain('exchange');
    expect(problems({}, { ...MODEL, password: { ...MODEL.password, bcryptCost: 9 } })[0]).toContain(
      'bcrypt_cost',
    );
    expect(
      problems({}, { ...MODEL, password: { ...MODEL.password, bcryptCost: 16 } })[0],
    ).toContain('bcrypt_cost');
    expect(problems({}, { ...MODEL, jwt: { ...MODEL.jwt, leeway: 61_000 } })[0]).toContain(
      'leeway',
    );
    expect(
      problems({}, { ...MODEL, refresh: { ...MODEL.refresh, idle: 100, absolute: 50 } })[0],
    ).toContain('idle');
    const hook = (url: string) => ({
      ...MODEL,
      events: { ...MODEL.events, webhooks: [{ url, secretEnv: 'WEBHOOK_SECRET', types: ['*'] }] },
    });
    expect(problems({ WEBHOOK_SECRET: 'x' }, hook('http://hooks.test/a'))[0]).toContain('https');
    expect(problems({}, hook('https://hooks.test/a'))[0]).toContain('WEBHOOK_SECRET');
    expect(problems({ WEBHOOK_SECRET: 'x' }, hook('http://127.0.0.1:9/a'))).toEqual([]);
  });

  it('every problem is listed at once', () => {
    expect(
      problems({ JWT_SECRET: 'secret', API_KEY: 'api', GOOGLE_CLIENT_ID: 'x', APP_URL: 'nope' })
        .length,
    ).toBeGreaterThanOrEqual(5);
  });
});

describeEachDatabase('§2.0 a server with a wrong setting', (database) => {
  it('a server with a wrong setting does not start', async () => {
    await expect(startServer({ database, env: { JWT_SECRET: 'secret' } })).rejects.toThrow(
      /JWT_SECRET/,
    );
  });

  it('an unknown preset is found at start', async () => {
    const auth = { oauth: { providers: [{ name: 'acme', preset: 'nosuch', options: {} }] } };
    const env = {
      ACME_CLIENT_ID: 'a',
      ACME_CLIENT_SECRET: 'b',
      ACME_REDIRECT_URL: 'http://localhost/api/oauth/acme/callback',
      API_KEY,
    };
    await expect(startServer({ database, auth, env })).rejects.toThrow(/nosuch/);
  });

  it('a start names the provider of the manifest that has no settings, and these', async () => {
    const logOf = async (env: Record<string, string>) => {
      const auth = { oauth: { providers: [{ name: 'gitlab', preset: 'gitlab', options: {} }] } };
      const server = await startServer({ database, auth, env });
      await server.close();
      return server.logs.join('');
    };
    expect(await logOf({})).toMatch(
      /gitlab.*GITLAB_CLIENT_ID, GITLAB_CLIENT_SECRET, GITLAB_REDIRECT_URL/,
    );
    const env = {
      GITLAB_CLIENT_ID: 'a',
      GITLAB_CLIENT_SECRET: 'b',
      GITLAB_REDIRECT_URL: 'http://localhost/api/oauth/gitlab/callback',
    };
    expect(await logOf(env)).not.toContain('Nobody signs in with');
  });

  it('a start says what a setting opens: no NODE_ENV, and AUTH_ALLOW_WEAK_SECRETS each time', async () => {
    const logOf = async (env: Record<string, string>) => {
      const server = await startServer({ database, env });
      await server.close();
      return server.logs.join('');
    };
    const open = await logOf({});
    expect(open).toContain('NODE_ENV is not set');
    expect(open).toContain('introspected');
    expect(open).not.toContain('AUTH_ALLOW_WEAK_SECRETS');
    const weak = await logOf({
      NODE_ENV: 'development',
      AUTH_ALLOW_WEAK_SECRETS: '1',
      JWT_SECRET: 'a short one',
    });
    expect(weak).toContain('AUTH_ALLOW_WEAK_SECRETS is in use: JWT_SECRET is shorter');
    expect(weak).not.toContain('a short one');
    expect(weak).not.toContain('NODE_ENV is not set');
  });
});

describe('a production start with pending migrations', () => {
  it('is refused, and logs no error about tables that do not exist yet', async () => {
    const lines: string[] = [];
    const server = createServer()
      .schema(
        'type User { id: ID! email: String! @unique }\ntype Query { users: [User!]! }',
        'name: shop\nauth: {}',
      )
      .with(auth());
    const env = {
      NODE_ENV: 'production',
      DATABASE_URL: ':memory:',
      APP_URL: 'https://shop.test',
      JWT_SECRET: SECRET,
      API_KEY,
    };
    await expect(
      server.start('127.0.0.1:0', { env, logTo: { write: (line) => void lines.push(line) } }),
    ).rejects.toThrow('migrations are not applied');
    expect(lines.filter((line) => (JSON.parse(line) as { level: number }).level >= 50)).toEqual([]);
  });
});
