import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttp, get as httpGet } from 'node:http';
import { get } from 'node:https';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { pino } from 'pino';
import { Agent, fetch as undiciFetch } from 'undici';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createIngress, type Ingress } from '../../runtime/hosting/ingress/ingress.ts';
import { hostingMigrations } from '../../runtime/hosting/records/migrations.ts';
import { createSeal } from '../../runtime/hosting/records/seal.ts';
import { createVault } from '../../runtime/hosting/records/vault.ts';
import { createCertificates, type Certificates } from '../../runtime/hosting/tls/certificates.ts';
import { createRequest } from '../../runtime/hosting/tls/csr.ts';
import { migrate } from '../../runtime/store/migrate.ts';
import { openStore } from '../../runtime/store/open-store.ts';
import type { Store } from '../../runtime/store/store.ts';
import { findCommand } from '../engines/command.ts';

const folder = mkdtempSync(join(tmpdir(), 'tf-tls-'));
const hosts = ['shop.twofold-tls.test', 'other.twofold-tls.test'];
const openssl = findCommand('openssl');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function setup(options: { acme?: { email: string | null; directory: string | null }; fetch?: typeof fetch; http?: number; served?: string[]; store?: Store } = {}) {
  const store = options.store ?? openStore(':memory:', folder);
  if (!options.store) await migrate(store, hostingMigrations);
  const seal = createSeal(['a secret']);
  const ingress = createIngress({ http: options.http ?? 0, https: 0, host: '127.0.0.1', now: Date.now });
  const certificates = createCertificates({ store, ingress, seal, vault: createVault(store, seal), log: pino({ level: process.env['TEST_LOG'] ?? 'silent' }), now: Date.now, hosts: () => options.served ?? hosts, acme: options.acme ?? { email: null, directory: null }, ...(options.fetch && { fetch: options.fetch }) });
  await certificates.load();
  const ports = await ingress.listen();
  return { store, certificates, ingress, ports };
}

/** The body behind HTTPS, and the certificate that was shown. */
function visit(port: number, host: string): Promise<{ text: string; certificate: X509Certificate }> {
  return new Promise((resolve, reject) => {
    const sent = get({ host: '127.0.0.1', port, servername: host, headers: { host }, rejectUnauthorized: false, agent: false }, (answer) => {
      const certificate = (answer.socket as TLSSocket).getPeerX509Certificate() as X509Certificate;
      let text = '';
      answer.on('data', (chunk) => (text += chunk)).on('end', () => resolve({ text, certificate }));
    });
    sent.on('error', reject);
  });
}

async function serveTarget(ingress: Ingress) {
  const server = createHttp((request, response) => response.end(`secure by ${request.headers['x-forwarded-proto']}`));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ingress.set({ appId: 'shop', hosts, state: 'serving', targets: [{ id: 'x', host: '127.0.0.1', port: (server.address() as AddressInfo).port }] });
  return server;
}

describe.skipIf(!openssl)('a certificate of one\'s own', () => {
  const selfSigned = (host: string, days = '2') => {
    const [key, certificate] = [join(folder, `${host}.key`), join(folder, `${host}.crt`)];
    execFileSync(openssl as string, ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', key, '-out', certificate, '-days', days, '-subj', '/CN=x', '-addext', `subjectAltName=DNS:${host}`], { stdio: 'ignore' });
    return { key: readFileSync(key, 'utf8'), certificate: readFileSync(certificate, 'utf8') };
  };

  it('is served for its host and no other, also after a restart, with its key sealed', async () => {
    const { store, certificates, ingress, ports } = await setup();
    const target = await serveTarget(ingress);
    const pair = selfSigned(hosts[0] as string);
    expect((await certificates.put(hosts, pair)).hosts).toEqual([hosts[0]]);
    const { text, certificate } = await visit(ports.https as number, hosts[0] as string);
    expect([text, certificate.subjectAltName]).toEqual(['secure by https', `DNS:${hosts[0]}`]);
    await expect(visit(ports.https as number, hosts[1] as string)).rejects.toThrow();
    await expect(visit(ports.https as number, 'unknown.test')).rejects.toThrow();
    const [row] = await store.db.selectFrom('hosting_certificates').selectAll().execute();
    expect(JSON.stringify(row)).not.toContain('PRIVATE');
    await ingress.close(500);
    const again = await setup({ store });
    await serveTarget(again.ingress).then((server) => server.unref());
    expect((await visit(again.ports.https as number, hosts[0] as string)).certificate.fingerprint256).toBe(certificate.fingerprint256);
    await again.ingress.close(500);
    target.close();
  });

  it('that does not fit is refused', async () => {
    const { certificates, ingress } = await setup();
    const pair = selfSigned(hosts[0] as string);
    const put = (given: Partial<typeof pair>, names = hosts) => certificates.put(names, { ...pair, ...given });
    await expect(put({ key: selfSigned('else.test').key })).rejects.toMatchObject({ status: 400, message: expect.stringMatching(/key does not belong/) });
    await expect(put({}, ['other.test'])).rejects.toMatchObject({ status: 400 });
    await expect(put({ certificate: 'nonsense' })).rejects.toMatchObject({ status: 400 });
    await ingress.close(500);
  });

  it('is asked for with a request that openssl takes', () => {
    const { csr } = createRequest(hosts);
    writeFileSync(join(folder, 'csr.der'), csr);
    const text = execFileSync(openssl as string, ['req', '-inform', 'DER', '-in', join(folder, 'csr.der'), '-noout', '-text', '-verify'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
    expect(text).toMatch(/DNS:shop.twofold-tls.test, DNS:other.twofold-tls.test/);
    expect(text).toMatch(/prime256v1|P-256/);
  });
});

const caddy = findCommand('caddy');
const canRunCa = caddy !== undefined && process.getuid?.() === 0 && (await isFree(80));

describe.skipIf(!canRunCa)('a certificate authority', () => {
  let ca: ChildProcess;
  let directory: string;
  let trusting: typeof fetch;
  let certificates: Certificates;
  let ingress: Ingress;

  beforeAll(async () => {
    const port = await freePort();
    directory = `https://localhost:${port}/acme/local/directory`;
    writeFileSync(join(folder, 'Caddyfile'), `{\n admin off\n skip_install_trust\n auto_https disable_redirects\n http_port ${await freePort()}\n storage file_system ${folder}/ca\n}\nhttps://localhost:${port} {\n tls internal\n acme_server\n}\n`);
    writeFileSync(join(folder, 'hosts'), `127.0.0.1 localhost ${hosts[0]}\n`);
    // The authority asks for the host by its name on port 80: it is given a view of the machine in which the name leads here.
    const script = `mount --bind ${folder}/hosts /etc/hosts && exec ${caddy} run --config ${folder}/Caddyfile --adapter caddyfile`;
    ca = spawn('unshare', ['--mount', 'sh', '-c', script], { stdio: 'ignore', env: { ...process.env, HOME: folder } });
    const root = join(folder, 'ca/pki/authorities/local/root.crt');
    await vi.waitUntil(() => existsSync(root), { timeout: 15_000 });
    const dispatcher = new Agent({ connect: { ca: readFileSync(root, 'utf8') } });
    trusting = ((url: string, init: object) => undiciFetch(url, { ...init, dispatcher })) as never;
    await vi.waitUntil(() => trusting(directory).then(({ ok }) => ok, () => false), { timeout: 15_000 });
  }, 40_000);
  afterAll(async () => {
    await certificates?.stop();
    await ingress?.close(500);
    ca?.kill();
  });

  it('is asked for what is missing, and what it gives is served', async () => {
    const made = await setup({ acme: { email: 'op@example.test', directory }, fetch: trusting, http: 80 });
    ({ certificates, ingress } = made);
    const target = await serveTarget(ingress);
    const began = Date.now();
    certificates.start();
    await expect.poll(() => certificates.has(hosts[0] as string), { timeout: 20_000, interval: 20 }).toBe(true);
    const took = Date.now() - began;
    const { text, certificate } = await visit(made.ports.https as number, hosts[0] as string);
    expect(text).toBe('secure by https');
    expect(certificate.issuer).toMatch(/Caddy Local Authority/);
    console.log(`certificate in ${took} ms`);
    // The other host leads nowhere: it is refused, and the first is none the worse.
    await expect(visit(made.ports.https as number, hosts[1] as string)).rejects.toThrow();
    const missing = await new Promise<number>((resolve) => httpGet({ host: '127.0.0.1', port: 80, path: '/.well-known/acme-challenge/x', headers: { host: 'nobody.test' } }, (answer) => resolve(answer.statusCode ?? 0)));
    expect(missing).toBe(404);
    target.close();
  }, 40_000);
});

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().once('error', () => resolve(false)).listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
