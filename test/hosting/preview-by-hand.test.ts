import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeEachEngine } from '../engines/available.ts';
import { importImage } from '../engines/import-image.ts';
import { startServer, type TestServer } from './server.ts';

// Previews of pull requests and keys of real hosts are in previews.test.ts and deploy-keys.test.ts.
describeEachEngine('an app with previews and keys', ({ socket }) => {
  let server: TestServer;
  let image: string;
  beforeAll(async () => {
    image = await importImage(socket, 'twofold-test/web:1');
    server = await startServer({ socket });
    await server.api('POST', '/api/apps', { name: 'shop', image, port: 8080 });
  });
  afterAll(() => server?.end());

  it('has a preview while somebody wants it', { timeout: 60_000 }, async () => {
    await server.api('PATCH', '/api/apps/shop', { previews: { enabled: true } });
    const made = await server.api('POST', '/api/apps/shop/previews', { key: 'blue', image });
    expect([made.status, made.body.name]).toEqual([201, 'shop-pr-blue']);
    expect((await server.visit('shop-pr-blue.apps.test')).status).toBe(200);
    const { body } = await server.api('GET', '/api/apps/shop/previews');
    expect(body).toMatchObject({ previews: [{ name: 'shop-pr-blue' }], total: 1 });
    expect((await server.api('DELETE', '/api/apps/shop/previews/blue')).status).toBe(200);
    expect((await server.api('GET', '/api/apps/shop-pr-blue')).status).toBe(404);
  });

  it('has a deploy key, made or brought', async () => {
    const made = await server.api('POST', '/api/apps/shop/deploy-key');
    expect(made.body.public_key).toMatch(/^ssh-ed25519 /);
    expect((await server.api('GET', '/api/apps/shop/deploy-key')).body).toEqual(made.body);
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const pem = privateKey.export({ type: 'pkcs1', format: 'pem' });
    const brought = await server.api('PUT', '/api/apps/shop/deploy-key', { private_key: pem });
    expect(brought.body.public_key).toMatch(/^ssh-rsa /);
    expect((await server.api('DELETE', '/api/apps/shop/deploy-key')).status).toBe(200);
  });

  it('trusts the keys of git hosts that it was given', async () => {
    const { public_key } = (await server.api('POST', '/api/apps/shop/deploy-key')).body;
    const put = await server.api('PUT', '/api/git/hosts/git.example.test', { public_key });
    expect(put.body).toMatchObject({ host: 'git.example.test', source: 'api' });
    expect((await server.api('GET', '/api/git/hosts')).body.total).toBe(1);
    expect((await server.api('DELETE', '/api/git/hosts/git.example.test')).status).toBe(200);
  });
});
