import type { Case } from './case.ts';
import { QUERY } from '../reading.ts';

const ROLES = 'name: x\nauth: { roles: { list: [Owner, Member], first: Owner } }';

export const MANIFEST: readonly Case[] = [
  {
    code: 'AUTH_TIMES',
    sdl: QUERY,
    manifest: 'name: x\nauth: { refresh: { idle: 60d } }',
    at: 'm2:26',
  },
  {
    code: 'AUTH_TIMES',
    sdl: QUERY,
    manifest: 'name: x\nauth: { jwt: { leeway: 2m } }',
    at: 'm2:24',
  },
  {
    code: 'THEME_CONTRAST',
    sdl: QUERY,
    manifest: 'name: x\nauth: { pages: { theme: { accent: "#ffcc00" } } }',
    at: 'm2:35',
  },
  {
    code: 'AUTH_PASSWORD_LENGTHS',
    sdl: QUERY,
    manifest: 'name: x\nauth: { password: { min: 30, max: 20 } }',
    at: 'm2:26',
  },
  {
    code: 'OAUTH_PROVIDER',
    sdl: QUERY,
    manifest: 'name: x\nauth: { oauth: { providers: { acme: { preset: oidc } } } }',
    at: 'm2:31',
  },
  {
    code: 'OAUTH_PROVIDER',
    sdl: QUERY,
    manifest:
      'name: x\nauth: { oauth: { providers: { acme: { preset: oidc, issuer: http://id.test } } } }',
    at: 'm2:61',
  },
  {
    code: 'OAUTH_PROVIDER',
    sdl: QUERY,
    manifest:
      'name: x\nauth: { oauth: { providers: { exchange: { preset: oidc, issuer: https://id.test } } } }',
    at: 'm2:31',
  },
  {
    code: 'CONSOLE_PATH_TAKEN',
    sdl: QUERY,
    manifest: 'name: x\nconsole: { path: /api/ops }',
    at: 'm2:18',
    fix: 'path: /console',
  },
  {
    code: 'CONSOLE_ROLES_WITHOUT_AUTH',
    sdl: QUERY,
    manifest: 'name: x\nconsole: { roles: [Owner] }',
    at: 'm2:12',
  },
  {
    code: 'CONSOLE_ROLE_UNKNOWN',
    sdl: QUERY,
    manifest: `${ROLES}\nconsole: { roles: [Ownr] }`,
    at: 'm3:12',
    fix: 'Did you mean "Owner"?',
  },
  {
    code: 'CONSOLE_PERMISSION_INVALID',
    sdl: QUERY,
    manifest: `${ROLES}\nconsole: { roles: { Owner: [everything] } }`,
    at: 'm3:21',
    fix: 'data:read',
  },
  {
    code: 'ADDRESS_INVALID',
    sdl: QUERY,
    manifest: 'name: x\nserver: { trusted_proxies: [10.0.0.0/40] }',
    at: 'm2:29',
  },
  {
    code: 'ADDRESS_INVALID',
    sdl: QUERY,
    manifest: 'name: x\nserver: { cors: [app.example.com] }',
    at: 'm2:18',
  },
  {
    code: 'CORS_WILDCARD',
    sdl: QUERY,
    manifest: 'name: x\nserver: { cors: ["*", "https://app.example.com"] }',
    at: 'm2:11',
  },
  {
    code: 'ADDRESS_INVALID',
    sdl: QUERY,
    manifest: 'name: x\nauth: { passkeys: { origins: [shop.example] } }',
    at: 'm2:31',
  },
  {
    code: 'ADDRESS_INVALID',
    sdl: QUERY,
    manifest: 'name: x\nauth: { events: { webhooks: [{ url: http://x.test, secret_env: S }] } }',
    at: 'm2:37',
  },
  {
    code: 'ADDRESS_INVALID',
    sdl: QUERY,
    manifest: 'name: x\nhosting: { domain: "a b" }',
    at: 'm2:20',
  },
  { code: 'MANIFEST_SYNTAX', sdl: QUERY, manifest: 'name: x\nserver: {', at: 'm2:10' },
  {
    code: 'MANIFEST_SYNTAX',
    sdl: QUERY,
    manifest: 'name: x\nserver:\n\tport: 1',
    at: 'm3:1',
    fix: 'indent with spaces',
  },
  {
    code: 'MANIFEST_SYNTAX',
    sdl: QUERY,
    manifest: `name: x\nserver: ${'['.repeat(100)}`,
    at: 'm2:69',
  },
  {
    code: 'MANIFEST_KEY_DUPLICATE',
    sdl: QUERY,
    manifest: 'name: x\nname: y',
    at: 'm2:1',
    fix: 'keep one of the two',
  },
  {
    code: 'MANIFEST_KEY_MISSING',
    sdl: QUERY,
    manifest: 'server: {}',
    at: 'm1:1',
    fix: 'name: shop',
  },
  {
    code: 'MANIFEST_KEY_UNKNOWN',
    sdl: QUERY,
    manifest: 'name: x\nsever: { port: 1 }',
    at: 'm2:1',
    fix: 'Did you mean "server"?',
  },
  {
    code: 'MANIFEST_KEY_UNKNOWN',
    sdl: QUERY,
    manifest: 'name: x\ndatabase: { url: data.db }',
    at: 'm2:13',
    fix: 'this is the setting DATABASE_URL: write it into .env',
  },
  {
    code: 'MANIFEST_SHAPE',
    sdl: QUERY,
    manifest: 'name: x\nserver: { port: eighty }',
    at: 'm2:17',
    fix: 'the default is 8080',
  },
  {
    code: 'MANIFEST_SHAPE',
    sdl: QUERY,
    manifest: 'name: x\napi: { graphiql: allways }',
    at: 'm2:18',
    fix: 'Did you mean "always"?',
  },
  { code: 'MANIFEST_SHAPE', sdl: QUERY, manifest: '- a', at: 'm1:1' },
  {
    code: 'MANIFEST_SECRET',
    sdl: QUERY,
    manifest: 'name: x\nauth: { jwt: { secret: hush } }',
    at: 'm2:16',
    fix: 'put it into .env as JWT_SECRET and remove it here; if it was committed, make a new one',
  },
];
