import { afterEach, describe, expect, it } from 'vitest';
import { generator, linkPackages, makeProject, type TestProject } from '../generator/project.ts';

interface Check {
  readonly what: string;
  readonly ok: boolean;
  readonly text: string;
}

const made: TestProject[] = [];
afterEach(() => made.splice(0).forEach((each) => each.remove()));

const SECRET = 'a long enough secret of the tests of the doctor';

async function examine(
  manifest: string,
  env: Readonly<Record<string, string>>,
): Promise<{
  readonly checks: readonly Check[];
  readonly output: string;
  readonly code: number | null;
}> {
  const shop = makeProject({
    'schema.graphql':
      'type User { id: ID! name: String! email: String! @unique }\ntype Query { users: [User!]! }\n',
    'manifest.yaml': manifest,
  });
  made.push(shop);
  linkPackages(shop);
  expect(await generator(['generate'], shop.root)).toMatchObject({ code: 0 });
  shop.write(
    '.env',
    Object.entries({ PORT: '0', DATABASE_URL: ':memory:', ...env })
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  );
  const { code, stdout, stderr } = await generator(['doctor', '--json'], shop.root);
  return {
    code,
    output: stdout + stderr,
    checks: (JSON.parse(stdout) as { checks: Check[] }).checks,
  };
}

describe('doctor', () => {
  it('finds weak and half-set configuration of auth, by name and without values', async () => {
    const { code, checks, output } = await examine(
      'name: shop\nauth:\n  events: { webhooks: [{ url: "https://hooks.test/x", secret_env: HOOK_SECRET }] }\n  oauth: { providers: { google: {}, acme: { preset: oidc, issuer: "https://id.test" } } }\n',
      {
        JWT_SECRET: SECRET,
        API_KEY: 'test_api_key',
        GOOGLE_CLIENT_ID: 'the-google-id',
        GOOGLE_REDIRECT_URL: 'http://shop.test/wrong',
        ACME_CLIENT_ID: 'the-acme-id',
        ACME_CLIENT_SECRET: 'the-acme-secret',
        ACME_REDIRECT_URL: 'http://shop.test/api/oauth/acme/callback',
        RATE_LIMIT_ENABLED: 'false',
      },
    );
    const settings = checks.filter(({ what }) => what === 'settings');
    expect(code).toBe(1);
    expect(
      settings
        .filter(({ ok }) => !ok)
        .map(({ text }) => text.split(':')[0])
        .sort(),
    ).toEqual([
      'ACME_REDIRECT_URL must be https, except on a loopback address',
      'API_KEY is a well-known example',
      'GOOGLE_CLIENT_SECRET is missing',
      'HOOK_SECRET is missing',
    ]);
    expect(settings.filter(({ ok }) => ok).map(({ text }) => text)).toEqual([
      expect.stringMatching(/^not in production: APP_URL is missing/),
      'not in production: RATE_LIMIT_ENABLED=false is refused in production: it is for load tests',
    ]);
    for (const value of [SECRET, 'the-google-id', 'the-acme-secret', 'test_api_key'])
      expect(output).not.toContain(value);
  });

  it('has nothing to say of settings that are right', async () => {
    const { checks } = await examine('name: shop\nauth: {}\n', {
      JWT_SECRET: SECRET,
      APP_URL: 'https://shop.test',
    });
    expect(checks.filter(({ what }) => what === 'settings')).toEqual([
      { what: 'settings', ok: true, text: 'the server takes them' },
    ]);
  });
});
