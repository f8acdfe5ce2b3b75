import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { createHmac, X509Certificate } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttp, get as httpGet } from 'node:http';
import { get } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { createLog } from '../../runtime/core/config/log.ts';
import { Agent, fetch as undiciFetch } from 'undici';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createIngress, type Ingress } from '../../runtime/hosting/ingress/ingress.ts';
import { hostingMigrations } from '../../runtime/hosting/records/migrations.ts';
import { createSeal } from '../../runtime/hosting/records/seal.ts';
import { createVault } from '../../runtime/hosting/records/settings-table.ts';
import { certificateId } from '../../runtime/hosting/tls/renewal-info.ts';
import { createCertificates, type Certificates } from '../../runtime/hosting/tls/certificates.ts';
import { createRequest } from '../../runtime/hosting/tls/csr.ts';
import { migrate } from '../../runtime/database/migrations/migrate.ts';
import { openStore } from '../../runtime/core/store/open-store.ts';
import type { Store } from '../../runtime/core/store/store.ts';
import { findCommand } from '../engines/command.ts';
import { freePort, isFree } from '../engines/free-port.ts';

const folder = mkdtempSync(join(tmpdir(), 'tf-tls-'));
const hosts = ['shop.twofold-tls.test', 'other.twofold-tls.test'];
const openssl = findCommand('openssl');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The certificate of RFC 9773, appendix A. */
const EXAMPLE = `-----BEGIN CERTIFICATE-----
MIIBQzCB66ADAgECAgUAh2VDITAKBggqhkjOPQQDAjAVMRMwEQYDVQQDEwpFeGFt
cGxlIENBMCIYDzAwMDEwMTAxMDAwMDAwWhgPMDAwMTAxMDEwMDAwMDBaMBYxFDAS
BgNVBAMTC2V4YW1wbGUuY29tMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEeBZu
7cbpAYNXZLbbh8rNIzuOoqOOtmxA1v7cRm//AwyMwWxyHz4zfwmBhcSrf47NUAFf
qzLQ2PPQxdTXREYEnKMjMCEwHwYDVR0jBBgwFoAUaYhba4dGQEHhs3uEe6CuLN4B
yNQwCgYIKoZIzj0EAwIDRwAwRAIge09+S5TZAlw5tgtiVvuERV6cT4mfutXIlwTb
+FYN/8oCIClDsqBklhB9KAelFiYt9+6FDj3z4KGVelYM5MdsO3pK
-----END CERTIFICATE-----`;

async function setup(
  options: {
    acme?: Parameters<typeof createCertificates>[0]['acme'];
    fetch?: typeof fetch;
    http?: number;
    served?: string[];
    store?: Store;
    now?: () => number;
  } = {},
) {
  const store = options.store ?? openStore(':memory:', folder);
  if (!options.store) await migrate(store, hostingMigrations);
  const seal = createSeal(['a secret']);
  const ingress = createIngress({
    http: options.http ?? 0,
    https: 0,
    host: '127.0.0.1',
    now: Date.now,
  });
  const certificates = createCertificates({
    store,
    ingress,
    seal,
    vault: createVault(store, seal),
    log: createLog({ level: process.env['TEST_LOG'] ? 'debug' : 'silent' }, process.stderr),
    now: options.now ?? Date.now,
    hosts: () => options.served ?? hosts,
    acme: options.acme ?? { email: null, directory: null },
    ...(options.fetch && { fetch: options.fetch }),
  });
  await certificates.load();
  const ports = await ingress.listen();
  return { store, certificates, ingress, ports };
}

/** The body behind HTTPS, and the certificate that was shown. */
function visit(
  port: number,
  host: string,
): Promise<{ text: string; certificate: X509Certificate }> {
  return new Promise((resolve, reject) => {
    const sent = get(
      {
        host: '127.0.0.1',
        port,
        servername: host,
        headers: { host },
        rejectUnauthorized: false,
        agent: false,
      },
      (answer) => {
        const certificate = (
          answer.socket as TLSSocket
        ).getPeerX509Certificate() as X509Certificate;
        let text = '';
        answer
          .on('data', (chunk) => (text += chunk))
          .on('end', () => resolve({ text, certificate }));
      },
    );
    sent.on('error', reject);
  });
}

async function serveTarget(ingress: Ingress) {
  const server = createHttp((request, response) =>
    response.end(`secure by ${request.headers['x-forwarded-proto']}`),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ingress.set({
    appId: 'shop',
    hosts,
    state: 'serving',
    targets: [{ id: 'x', host: '127.0.0.1', port: (server.address() as AddressInfo).port }],
  });
  return server;
}

describe.skipIf(!openssl)("a certificate of one's own", () => {
  const selfSigned = (host: string, days = '2') => {
    const [key, certificate] = [join(folder, `${host}.key`), join(folder, `${host}.crt`)];
    execFileSync(
      openssl as string,
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:P-256',
        '-nodes',
        '-keyout',
        key,
        '-out',
        certificate,
        '-days',
        days,
        '-subj',
        '/CN=x',
        '-addext',
        `subjectAltName=DNS:${host}`,
      ],
      { stdio: 'ignore' },
    );
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
    expect(
      (await visit(again.ports.https as number, hosts[0] as string)).certificate.fingerprint256,
    ).toBe(certificate.fingerprint256);
    await again.ingress.close(500);
    target.close();
  });

  it('that does not fit is refused', async () => {
    const { certificates, ingress } = await setup();
    const pair = selfSigned(hosts[0] as string);
    const put = (given: Partial<typeof pair>, names = hosts) =>
      certificates.put(names, { ...pair, ...given });
    await expect(put({ key: selfSigned('else.test').key })).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(/key does not belong/),
    });
    await expect(put({}, ['other.test'])).rejects.toMatchObject({ status: 400 });
    await expect(put({ certificate: 'nonsense' })).rejects.toMatchObject({ status: 400 });
    await ingress.close(500);
  });

  it('has the id that RFC 9773 gives to its example', () => {
    expect(certificateId(EXAMPLE)).toBe('aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE');
  });

  it('is asked for with a request that openssl takes', () => {
    const { csr } = createRequest(hosts);
    writeFileSync(join(folder, 'csr.der'), csr);
    const text = execFileSync(
      openssl as string,
      ['req', '-inform', 'DER', '-in', join(folder, 'csr.der'), '-noout', '-text', '-verify'],
      { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] },
    );
    expect(text).toMatch(/DNS:shop.twofold-tls.test, DNS:other.twofold-tls.test/);
    expect(text).toMatch(/prime256v1|P-256/);
  });
});

const caddy = findCommand('caddy');
const canRunCa = caddy !== undefined && process.getuid?.() === 0 && (await isFree(80));

describe.skipIf(!canRunCa)('a certificate authority', () => {
  const root = join(folder, 'ca/pki/authorities/local/root.crt');
  let ca: ChildProcess | undefined;
  let directory: string;
  let trusting: typeof fetch;
  /** The hosts of the orders that reached the authority, and how often it was looked for. */
  const orders: string[] = [];
  /**
   * What the authority says beside what Caddy's does: the window of a renewal, and that accounts
   * must be bound.
   */
  let more: { window?: [number, number]; bound?: boolean } = {};
  /** What it was sent for accounts and orders. */
  const sent: any[] = [];
  let looks = 0;
  const open: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    const port = await freePort();
    directory = `https://localhost:${port}/acme/local/directory`;
    writeFileSync(
      join(folder, 'Caddyfile'),
      `{\n admin off\n skip_install_trust\n auto_https disable_redirects\n http_port ${await freePort()}\n storage file_system ${folder}/ca\n}\nhttps://localhost:${port} {\n tls internal\n acme_server\n}\n`,
    );
    writeFileSync(join(folder, 'hosts'), `127.0.0.1 localhost ${hosts[0]}\n`);
    await startAuthority();
  });
  afterEach(async () => {
    more = {};
    sent.length = 0;
    asked.length = 0;
    for (const close of open.splice(0).toReversed()) await close();
  });
  afterAll(stopAuthority);

  /**
   * The authority asks for the host by its name on port 80: it is given a view of the machine in
   * which the name leads here.
   */
  async function startAuthority() {
    const script = `mount --bind ${folder}/hosts /etc/hosts && exec ${caddy} run --config ${folder}/Caddyfile --adapter caddyfile`;
    ca = spawn('unshare', ['--mount', 'sh', '-c', script], {
      stdio: 'ignore',
      env: { ...process.env, HOME: folder },
    });
    await vi.waitUntil(() => existsSync(root), { timeout: 15_000 });
    const dispatcher = new Agent({ connect: { ca: readFileSync(root, 'utf8') } });
    const send = (url: string, init: object) => undiciFetch(url, { ...init, dispatcher });
    trusting = ((url: string, init: { body?: string }) => {
      if (url === directory) looks += 1;
      if (url.endsWith('/new-order'))
        orders.push(
          ...JSON.parse(
            Buffer.from(JSON.parse(init.body as string).payload, 'base64url').toString(),
          ).identifiers.map(({ value }: { value: string }) => value),
        );
      if (/new-(account|order)$/.test(url))
        sent.push(
          JSON.parse(Buffer.from(JSON.parse(init.body as string).payload, 'base64url').toString()),
        );
      if (url.startsWith(`${directory}/renewal/`)) return renewalInfo(url);
      if (url === directory && more.window) return withRenewalInfo(send(url, init));
      return send(url, init);
    }) as never;
    await vi.waitUntil(
      () =>
        send(directory, {}).then(
          ({ ok }) => ok,
          () => false,
        ),
      { timeout: 15_000 },
    );
  }

  /**
   * Caddy knows nothing of renewal information: the directory gets its address, and this answers
   * there.
   */
  async function withRenewalInfo(answer: ReturnType<typeof undiciFetch>) {
    const body = (await (await answer).json()) as object;
    const meta = { externalAccountRequired: more.bound === true };
    return Response.json({ ...body, meta, renewalInfo: `${directory}/renewal` });
  }

  const asked: string[] = [];
  function renewalInfo(url: string) {
    asked.push(url.slice(url.lastIndexOf('/') + 1));
    const [start, end] = more.window!.map((time) => new Date(time).toISOString());
    return Response.json(
      { suggestedWindow: { start, end } },
      { headers: { 'Retry-After': '3600' } },
    );
  }

  async function stopAuthority() {
    const ended = new Promise((resolve) => ca?.once('exit', resolve));
    if (ca?.kill()) await ended;
    ca = undefined;
  }

  /** A server of the host that the authority can reach, with a clock that can be set forward. */
  async function start(served = hosts, externalAccount?: { id: string; key: string }) {
    const clock = { ahead: 0 };
    const made = await setup({
      acme: { email: 'op@example.test', directory, externalAccount: externalAccount ?? null },
      fetch: ((...call: Parameters<typeof fetch>) => trusting(...call)) as never,
      http: 80,
      served,
      now: () => Date.now() + clock.ahead,
    });
    const target = await serveTarget(made.ingress);
    open.push(
      () => made.certificates.stop().then(() => made.ingress.close(500)),
      async () => target.close(),
    );
    orders.length = 0;
    looks = 0;
    made.certificates.start();
    const shown = async () =>
      (await visit(made.ports.https as number, hosts[0] as string)).certificate;
    await expect
      .poll(() => made.certificates.has(hosts[0] as string), { timeout: 20_000, interval: 20 })
      .toBe(true);
    return { ...made, clock, shown };
  }

  /** Asks for a look, and waits until it has been taken. */
  async function look(certificates: Certificates) {
    certificates.wake();
    await new Promise((resolve) => setTimeout(resolve, 150));
  }

  it('is asked for what is missing, and what it gives is served', async () => {
    const began = Date.now();
    const { ports } = await start();
    console.log(`certificate in ${Date.now() - began} ms`);
    const { text, certificate } = await visit(ports.https as number, hosts[0] as string);
    expect(text).toBe('secure by https');
    expect(certificate.issuer).toMatch(/Caddy Local Authority/);
    // The other host leads nowhere: it is refused, and the first is none the worse.
    await expect(visit(ports.https as number, hosts[1] as string)).rejects.toThrow();
    const missing = await new Promise<number>((resolve) =>
      httpGet(
        {
          host: '127.0.0.1',
          port: 80,
          path: '/.well-known/acme-challenge/x',
          headers: { host: 'nobody.test' },
        },
        (answer) => resolve(answer.statusCode ?? 0),
      ),
    );
    expect(missing).toBe(404);
  });

  it('is asked for nothing by a host that no app has, whoever names it in a handshake', async () => {
    const { ports, certificates } = await start([hosts[0] as string]);
    for (const name of ['unknown.twofold-tls.test', hosts[1] as string, `x.${hosts[0]}`])
      await expect(visit(ports.https as number, name)).rejects.toThrow();
    await look(certificates);
    expect(orders).toEqual([hosts[0]]);
  });

  it("is asked again in the last third of a certificate's life, and not before; the new one is served without a restart", async () => {
    const { certificates, clock, shown } = await start([hosts[0] as string]);
    const first = await shown();
    const life = first.validToDate.getTime() - first.validFromDate.getTime();
    expect(life).toBeLessThan(2 * 24 * 3_600_000); // A short one: thirty days before its end would be at every look.
    for (const ahead of [0, 0.3 * life, 0.6 * life]) {
      clock.ahead = ahead;
      await look(certificates);
    }
    expect([orders, (await shown()).fingerprint256]).toEqual([[hosts[0]], first.fingerprint256]);
    clock.ahead = 0.75 * life;
    certificates.wake();
    await expect
      .poll(async () => (await shown()).fingerprint256, { timeout: 20_000 })
      .not.toBe(first.fingerprint256);
    clock.ahead = 0;
    for (let turn = 0; turn < 3; turn += 1) await look(certificates);
    expect(orders).toEqual([hosts[0], hosts[0]]);
    expect((await shown()).validToDate.getTime()).toBeGreaterThanOrEqual(
      first.validToDate.getTime(),
    );
  });

  it('that gives renewal information decides when a certificate is renewed, and learns which one that was', async () => {
    more = { window: [Date.now() + 3_600_000, Date.now() + 3_600_000] };
    const { certificates, clock, shown } = await start([hosts[0] as string]);
    const first = await shown();
    await look(certificates);
    await look(certificates);
    const id = certificateId(first.toString());
    expect(asked).toEqual([id]);
    clock.ahead = 3_000_000;
    await look(certificates);
    expect(orders).toEqual([hosts[0]]);
    clock.ahead = 3_700_000;
    certificates.wake();
    await expect
      .poll(async () => (await shown()).fingerprint256, { timeout: 20_000 })
      .not.toBe(first.fingerprint256);
    expect(sent.filter(({ identifiers }) => identifiers).map(({ replaces }) => replaces)).toEqual([
      undefined,
      id,
    ]);
  });

  it('that needs an external account is shown one, signed with its key', async () => {
    const key = Buffer.from('a key of the authority').toString('base64url');
    more = { window: [Date.now() + 3_600_000, Date.now() + 3_600_000], bound: true };
    await start([hosts[0] as string], { id: 'kid-1', key });
    const { externalAccountBinding: binding } = sent.find(({ contact }) => contact);
    const [header, payload] = [binding.protected, binding.payload].map((text) =>
      JSON.parse(Buffer.from(text, 'base64url').toString()),
    );
    expect(header).toMatchObject({
      alg: 'HS256',
      kid: 'kid-1',
      url: expect.stringMatching(/new-account$/),
    });
    expect(payload).toMatchObject({ kty: 'EC', crv: 'P-256' });
    expect(binding.signature).toBe(
      createHmac('sha256', Buffer.from(key, 'base64url'))
        .update(`${binding.protected}.${binding.payload}`)
        .digest('base64url'),
    );
  });

  it('that cannot be reached is asked less and less often, and the old certificate stays in service', async () => {
    const { certificates, clock, shown, store } = await start([hosts[0] as string]);
    const first = await shown();
    const life = first.validToDate.getTime() - first.validFromDate.getTime();
    await stopAuthority();
    clock.ahead = 0.75 * life;
    const before = looks;
    certificates.wake();
    await expect.poll(() => looks, { timeout: 10_000 }).toBe(before + 1);
    for (let turn = 0; turn < 3; turn += 1) await look(certificates);
    expect([looks, (await shown()).fingerprint256]).toEqual([before + 1, first.fingerprint256]);
    clock.ahead += 5 * 60_000;
    certificates.wake();
    await expect.poll(() => looks, { timeout: 10_000 }).toBe(before + 2);
    clock.ahead += 5 * 60_000; // The second pause is four times the first.
    await look(certificates);
    expect([looks, (await shown()).fingerprint256]).toEqual([before + 2, first.fingerprint256]);

    await startAuthority();
    clock.ahead += 20 * 60_000;
    certificates.wake();
    await expect
      .poll(async () => (await shown()).fingerprint256, { timeout: 20_000 })
      .not.toBe(first.fingerprint256);
    const rows = await store.db.selectFrom('hosting_certificates').selectAll().execute();
    expect(
      rows.map(({ domain, certificate }) => [
        domain,
        new X509Certificate(certificate).fingerprint256,
      ]),
    ).toEqual([[hosts[0], (await shown()).fingerprint256]]);
  });
});
