import { describe, expect, it } from 'vitest';
import { parseManifest } from '../../schema/parse/manifest.ts';
import { durationText, sizeText } from '../../schema/manifest/quantities.ts';
import { authSchema } from '../../schema/auth/manifest.ts';
import { hostingSchema } from '../../schema/hosting/manifest.ts';
import { printUnits } from '../../schema/manifest/units.ts';

function values(text: string) {
  const { manifest, diagnostics } = parseManifest({ file: 'manifest.yaml', text });
  expect(diagnostics).toEqual([]);
  return manifest.values;
}

describe('the values of a manifest', () => {
  it('have camelCase keys, milliseconds and bytes, as the JSON Schema says which they are', () => {
    const { auth, hosting, api, server } = values('name: x\nauth: {}\nhosting: {}\n');
    expect(auth?.jwt).toEqual({
      ttl: 86_400_000,
      leeway: 0,
      issuer: null,
      audience: null,
      maxBytes: 8192,
    });
    expect(auth?.rateLimits['forgot-identifier']).toEqual({ count: 3, window: 3_600_000 });
    expect(hosting?.source).toEqual({ max: 2 ** 28, maxUnpacked: 2 ** 31, entries: 50_000 });
    expect(hosting?.models).toEqual({
      directory: 'data/models',
      engine: 'auto',
      list: [],
      maxSize: 50 * 2 ** 30,
    });
    expect(api.limits.rootFields).toBe(20);
    expect(server.bodyLimit).toBe(2 ** 20);
  });

  it('keep keys that the user chose, and a provider as it is written', () => {
    const { auth } = values(
      'name: x\nauth: { oauth: { providers: { my_idp: { authorize_url: https://a.test } } }, routes: { "GET /api/my_posts": { limit: 1/1s } } }\n',
    );
    expect(auth?.oauth.providers).toEqual({
      my_idp: { authorize_url: 'https://a.test', id_token: false, tenant: 'common' },
    });
    expect(auth?.routes).toEqual({ 'GET /api/my_posts': { limit: '1/1s' } });
  });

  it('are printed with their units again', () => {
    const { auth, hosting } = values('name: x\nauth: {}\nhosting: {}\n');
    const print = { duration: durationText, size: sizeText };
    expect(printUnits(auth?.lockout, authSchema.properties.lockout, print)).toEqual({
      attempts: 5,
      window: '15m',
      duration: '15m',
      factor: 2,
      max: '1d',
      hardAfter: 100,
    });
    expect(printUnits(hosting, hostingSchema, print)).toMatchObject({
      registry: null,
      diskFloor: '2GiB',
      deploys: { readyTimeout: '1m' },
      models: { engine: 'auto' },
    });
  });
});

describe('a secret in the manifest', () => {
  it.each([
    ['auth: { jwt: { secret: x } }', 'JWT_SECRET'],
    ['auth: { oauth: { providers: { my-idp: { client_secret: x } } } }', 'MY_IDP_CLIENT_SECRET'],
    ['hosting: { password: x }', 'HOST_PASSWORD'],
    ['hosting: { models: { token: x } }', 'HF_TOKEN'],
  ])('belongs to the setting of its section: %s', (line, setting) => {
    const { diagnostics } = parseManifest({ file: 'manifest.yaml', text: `name: x\n${line}\n` });
    expect(diagnostics.map(({ code, fix }) => `${code} ${String(fix)}`)).toContainEqual(
      expect.stringMatching(new RegExp(`^MANIFEST_SECRET put it into \\.env as ${setting} `)),
    );
  });
});
