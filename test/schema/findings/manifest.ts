import type { Case } from './case.ts';
import { QUERY } from '../reading.ts';

const ROLES = 'name: x\nauth: { roles: { list: [Owner, Member], first: Owner } }';

export const MANIFEST: readonly Case[] = [
  {
    code: 'MCP_EXPLORE_UNTRUSTED',
    sdl: QUERY,
    manifest: 'name: x\napi: { mcp: { tools: explore }, trusted_documents: { file: d.json } }',
    at: 'm2:22',
  },
  {
    code: 'MCP_DOCUMENTS_MISSING',
    sdl: QUERY,
    manifest: 'name: x\napi: { mcp: { tools: documents } }',
    at: 'm2:22',
  },
  {
    code: 'MCP_PATH_TAKEN',
    sdl: QUERY,
    manifest: 'name: x\napi: { mcp: { tools: explore, path: /graphql } }',
    at: 'm2:37',
  },
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
  ...(
    [
      ['linkedin2: ', 31, 'linkedin'],
      ['x: { preset: twitter }', 44, null],
      ['constructor: ', 31, null],
    ] as const
  ).map(([provider, column, near]) => ({
    code: 'OAUTH_PRESET_UNKNOWN',
    sdl: QUERY,
    manifest: `name: x\nauth: { oauth: { providers: { ${provider} } } }`,
    at: `m2:${column}`,
    fix: near
      ? `Did you mean "${near}"?`
      : 'preset: oauth2, with authorize_url, access_url, profile_url, subject, email; or preset: oidc, with issuer',
  })),
  ...['"*"', 'https://app.test/path', 'localhost:3000', 'javascript:/x', 'app.test', 'data:/x'].map(
    (address) => ({
      code: 'ADDRESS_INVALID',
      sdl: QUERY,
      manifest: `name: x\nauth: { oauth: { return_to: [${address}] } }`,
      at: 'm2:30',
    }),
  ),
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
    code: 'HOSTING_REGISTRY_INVALID',
    sdl: QUERY,
    manifest: 'name: x\nhosting: { registry: https://registry.example.com/team }',
    at: 'm2:22',
    fix: 'registry.example.com/team',
  },
  {
    code: 'HOSTING_PORTS_INVALID',
    sdl: QUERY,
    manifest: 'name: x\nhosting: { ingress: { ports: 9000-80 } }',
    at: 'm2:30',
    fix: '1024-65535',
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
  {
    code: 'MODELS_ALIAS_LOOP',
    sdl: QUERY,
    manifest: 'name: x\nhosting: { models: { aliases: { a: a } } }',
    at: 'm2:36',
  },
  {
    code: 'MODELS_ENGINE_UNKNOWN',
    sdl: QUERY,
    manifest: 'name: x\nhosting: { models: { engine: [llamacpp, vllm] } }',
    at: 'm2:22',
  },
  {
    code: 'MODELS_PRICE_INVALID',
    sdl: QUERY,
    manifest: 'name: x\nhosting: { models: { prices: { o/m: { input: -1, output: 1 } } } }',
    at: 'm2:46',
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
