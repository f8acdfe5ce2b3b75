import { describe, expect, it } from 'vitest';
import { parseManifest } from '@twofold/schema';
import { projectOf, QUERY, read } from './reading.ts';

const sdl = `${QUERY}type User { id: ID! email: String! }`;
const authOf = (manifest: string) => projectOf(sdl, `name: x\nauth:${manifest}`).auth;

describe('the manifest', () => {
  it('needs a name and nothing else', () => {
    const project = projectOf(QUERY, 'name: shop');
    expect(project).toMatchObject({ name: 'shop', ids: 'integer', auth: null, hosting: null });
    expect(project.server).toEqual({
      port: 8080,
      host: '127.0.0.1',
      cors: [],
      trustedProxies: [],
      bodyLimit: 1_048_576,
    });
    expect(project.api).toEqual({
      path: '/graphql',
      access: 'public',
      crud: false,
      rest: false,
      introspection: 'development',
      graphiql: 'development',
      suggestions: 'development',
      trustedDocuments: null,
      limits: {
        depth: 12,
        cost: 50_000,
        aliases: 30,
        rootFields: 20,
        directives: 50,
        tokens: 2000,
        batch: 0,
        list: 100,
        many: 1000,
        time: 10_000,
        result: 10 * 1_048_576,
        memory: 128 * 2 ** 20,
      },
    });
  });

  it('may be absent, for a server that was given nothing but a schema', () => {
    const { server, api, auth, name } = projectOf(QUERY);
    expect({ server, api, auth, name }).toEqual({
      ...pick(projectOf(QUERY, 'name: app')),
      auth: null,
    });
  });

  it('turns signing in and hosting on by their sections, even empty ones', () => {
    for (const empty of ['', ' {}', ' ~'])
      expect(projectOf(QUERY, `name: x\nauth:${empty}\nhosting:${empty}`)).toMatchObject({
        auth: { profile: 'standard' },
        hosting: { domain: 'localhost' },
      });
  });

  it('asks for a user once people can sign in, unless it says otherwise', () => {
    expect(projectOf(QUERY, 'name: x\nauth:').api.access).toBe('user');
    expect(projectOf(QUERY, 'name: x\nauth:\napi: { access: public }').api.access).toBe('public');
  });

  it('has every default of signing in', () => {
    expect(authOf('')).toMatchObject({
      profile: 'standard',
      user: {
        entity: 'User',
        table: 'users',
        columns: { email: 'email' },
        identity: ['email'],
        registerFields: [],
      },
      roles: null,
      jwt: { ttl: 86_400_000, leeway: 0, issuer: null, audience: null, maxBytes: 8192 },
      refresh: {
        enabled: true,
        idle: 604_800_000,
        absolute: 2_592_000_000,
        grace: 10_000,
        delivery: 'body',
      },
      password: {
        min: 8,
        max: 256,
        score: 2,
        bcryptCost: 10,
        contextWords: [],
        hashConcurrency: 'auto',
        hashQueue: 64,
      },
      lockout: {
        attempts: 5,
        window: 900_000,
        duration: 900_000,
        factor: 2,
        max: 86_400_000,
        hardAfter: 100,
      },
      requireApiKey: false,
      requireVerifiedEmail: false,
      enumeration: 'standard',
      oauth: { linking: 'verified', returnTo: [], providers: [] },
      events: { webhooks: [], alertEmail: null, retention: 7_776_000_000 },
    });
    expect(authOf('')?.rateLimits).toMatchObject({
      'login-ip': { count: 60, window: 60_000 },
      'refresh-ip': { count: 150, window: 300_000 },
      'forgot-identifier': { count: 3, window: 3_600_000 },
      'api-key': { count: 1200, window: 60_000 },
    });
  });

  it('lays profiles under what is written', () => {
    const strict = {
      jwt: { ttl: 900_000 },
      refresh: { delivery: 'cookie' },
      password: { min: 12, score: 3, bcryptCost: 12 },
      enumeration: 'strict',
      requireVerifiedEmail: true,
    };
    expect(authOf(' { profile: strict }')).toMatchObject(strict);
    expect(authOf(' { profile: nist }')).toMatchObject({
      ...strict,
      password: { min: 15, score: 3 },
    });
    expect(
      authOf(
        ' { profile: strict, jwt: { ttl: 1h }, password: { score: 4 }, require_verified_email: false }',
      ),
    ).toMatchObject({
      jwt: { ttl: 3_600_000 },
      password: { min: 12, score: 4 },
      requireVerifiedEmail: false,
    });
  });

  it.each([
    ['only this machine where nobody signs in', '', '127.0.0.1'],
    ['every address with sign-in', 'auth: {}', '0.0.0.0'],
    ['every address where operations need a credential', 'api: { access: user }', '0.0.0.0'],
    ['what the manifest says', 'server: { host: 192.0.2.7 }', '192.0.2.7'],
  ])('lets the server be reached by %s', (_title, written, host) => {
    expect(projectOf(sdl, `name: x\n${written}`).server.host).toBe(host);
  });

  it('reads roles, limits, providers, webhooks and proxies', () => {
    const project = projectOf(
      sdl,
      `name: x
server: { trusted_proxies: [10.0.0.0/8] }
auth:
  roles: { list: [Owner, Member], first: Owner }
  rate_limits: { login-ip: 5/10s }
  routes: { "POST /api/posts": { limit: 30/1m/user } }
  oauth: { providers: { google: , acme: { preset: oidc, issuer: https://id.test, scope: [openid] } } }
  events: { webhooks: [{ url: https://x.test/hook, secret_env: WEBHOOK_SECRET }] }
  trusted_proxies: ["::1", 10.0.0.0/8]`,
    );
    expect(project.server.trustedProxies).toEqual(['10.0.0.0/8', '::1']);
    expect(project.auth).toMatchObject({
      roles: { list: ['Owner', 'Member'], default: 'Member', first: 'Owner' },
      rateLimits: {
        'login-ip': { count: 5, window: 10_000 },
        'auth-ip': { count: 200, window: 60_000 },
      },
      routeLimits: { 'POST /api/posts': { count: 30, window: 60_000, by: 'user' } },
      oauth: {
        providers: [
          { name: 'google', preset: 'google', options: {} },
          {
            name: 'acme',
            preset: 'oidc',
            options: { issuer: 'https://id.test', scope: ['openid'] },
          },
        ],
      },
      events: {
        webhooks: [{ url: 'https://x.test/hook', secretEnv: 'WEBHOOK_SECRET', types: ['*'] }],
      },
    });
  });

  it('uses what the user type declares in place of the side table', () => {
    const { auth } = projectOf(
      `${QUERY}scalar DateTime type Account { id: ID! email: String! firstName: String! last_name: String avatarURL: String lastLogin: DateTime createdAt: DateTime! name: String! age: Int! phone(x: Int): String }`,
      'name: x\nauth: { user: Account, register: { fields: [age] } }',
    );
    expect(auth?.user).toEqual({
      entity: 'Account',
      table: 'accounts',
      identity: ['email', 'last_login'],
      registerFields: ['age'],
      columns: {
        email: 'email',
        first_name: 'first_name',
        last_name: 'last_name',
        avatar_url: 'avatar_url',
        last_login: 'last_login',
        created_at: 'created_at',
        name: 'name',
      },
    });
  });

  it('makes the email that people sign in with unique', () => {
    expect(projectOf(sdl, 'name: x\nauth:').entities[0]?.columns[1]?.unique).toBe(true);
    expect(projectOf(sdl).entities[0]?.columns[1]?.unique).toBe(false);
  });

  it('keeps users of its own when no type is a user', () => {
    expect(projectOf(QUERY, 'name: x\nauth:').auth?.user).toMatchObject({
      entity: null,
      table: 'users',
    });
    expect(
      projectOf(`${QUERY}type User @entity(table: "people") { id: ID! }`, 'name: x\nauth:').auth
        ?.user.entity,
    ).toBeNull();
  });

  it('has every default of hosting, with sizes in bytes', () => {
    expect(
      projectOf(
        QUERY,
        'name: x\nhosting: { defaults: { memory: 1GiB }, build: { timeout: 90s }, disk_floor: 100 }',
      ).hosting,
    ).toMatchObject({
      engine: { kind: 'auto', socket: null },
      access: 'host',
      defaults: { port: 8080, memory: 2 ** 30, cpus: 1, pids: 512 },
      deploys: { keep: 5, readyTimeout: 60_000, drain: 30_000 },
      build: { timeout: 90_000, memory: 2 ** 31, concurrency: 1, allowAddUrl: false, from: ['*'] },
      source: { max: 2 ** 28, maxUnpacked: 2 ** 31, entries: 50_000 },
      git: { allowHttp: false, allowPrivate: false },
      ingress: { http: 80, https: 443, acme: { email: null, directory: null } },
      registry: null,
      diskFloor: 100,
      templates: 'templates/',
      models: { directory: 'data/models', engine: 'auto', list: [] },
    });
  });

  it.each([
    ['auth: { oauth: { providers: { google: { client_secret: abc } } } }', 'GOOGLE_CLIENT_SECRET'],
    ['hosting: { templates: "https://me:hush@x.test" }', 'HOST_PASSWORD'],
    ['auth: { jwt: { issuer: eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln } }', 'JWT_SECRET'],
    ['hosting: { models: { directory: hf_abcdefghijklmnopqrst } }', 'HF_TOKEN'],
    ['api_key: 3', 'API_KEY'],
  ])('takes the secret in %s for what it is', (line, setting) => {
    const { diagnostics } = read(sdl, `name: x\n${line}`);
    expect(diagnostics.map(({ code }) => code)).toEqual(['MANIFEST_SECRET']);
    expect(diagnostics[0]?.fix).toContain(setting);
  });

  it('takes nothing else for a secret', () => {
    expect(
      read(
        sdl,
        'name: x\nauth: { password: { min: 9 }, events: { webhooks: [{ url: https://x.test, secret_env: MY_SECRET_NAME }] } }',
      ).diagnostics,
    ).toEqual([]);
  });

  it('refuses bombs of aliases and junk without a stack trace', () => {
    const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefgh'
      .split('')
      .map(
        (name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[index]}`).join(',')}]`,
      )
      .join('\n')}`;
    for (const text of [
      bomb,
      '\u0000\u0001',
      '{{{{',
      '- - - - '.repeat(100),
      '&a *a',
      'name: !!js/function x',
      'a'.repeat(1_000_001),
      '%YAML 9',
      '"',
      '? ? ? a',
    ]) {
      const { diagnostics } = parseManifest({ file: 'manifest.yaml', text });
      expect(diagnostics.length, text.slice(0, 40)).toBeGreaterThan(0);
    }
  });

  it('cannot be made to reach the prototype of anything', () => {
    const { diagnostics } = parseManifest({
      file: 'manifest.yaml',
      text: 'name: x\n__proto__: { polluted: 1 }\nconstructor: { prototype: { polluted: 1 } }',
    });
    expect(diagnostics.map(({ code }) => code)).toEqual([
      'MANIFEST_KEY_UNKNOWN',
      'MANIFEST_KEY_UNKNOWN',
    ]);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

const pick = ({ server, api, name }: ReturnType<typeof projectOf>) => ({ server, api, name });
