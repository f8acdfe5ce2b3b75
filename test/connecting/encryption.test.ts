import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createSettings } from '../../runtime/core/config/settings.ts';
import { databaseSettings } from '../../runtime/core/store/database-settings.ts';
import { openStore } from '../../runtime/core/store/open-store.ts';
import { unreachable } from '../../runtime/core/store/unreachable.ts';
import { describeWith } from '../engines/available.ts';
import { createAuthority } from '../engines/certificates.ts';
import { type OwnPostgres, ownPostgres } from '../engines/own-postgres.ts';

const ACCESS = `hostssl all certified 127.0.0.1/32 cert
hostnossl all encrypted 127.0.0.1/32 reject
hostssl all plain 127.0.0.1/32 reject
host all all 127.0.0.1/32 md5
host all all ::1/128 md5
`;

describeWith('postgres', 'the encryption of a connection', () => {
  let directory: string;
  let ours: ReturnType<typeof createAuthority>;
  let foreign: ReturnType<typeof createAuthority>;
  const servers: Record<string, OwnPostgres> = {};
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'twofold-tls-'));
    ours = createAuthority(directory, 'ours');
    foreign = createAuthority(directory, 'foreign');
    const kinds = {
      right: ours.issue('localhost'),
      'wrong name': ours.issue('other.example'),
      expired: ours.issue('localhost', -1),
      foreign: foreign.issue('localhost'),
    };
    const started = Object.entries(kinds).map(async ([kind, server]) => {
      servers[kind] = await ownPostgres({ server, clientCa: ours.cert, access: ACCESS });
    });
    await Promise.all([...started, ownPostgres().then((own) => (servers['none'] = own))]);
  }, 240_000);
  afterAll(async () => {
    await Promise.all(Object.values(servers).map((server) => server.stop()));
    rmSync(directory, { recursive: true, force: true });
  });

  /** Connects, with settings that may name a CA. @returns whether it is encrypted, or why not. */
  async function reach(kind: string, query: string, ca?: string, user?: string) {
    const url = new URL(`${servers[kind]!.url}?${query}`);
    if (user) url.username = user;
    const settings = createSettings({ DATABASE_URL: url.href, DATABASE_CA: ca });
    databaseSettings(settings);
    let store;
    try {
      store = openStore(url.href, '.');
      return (await store.describe!()).tls;
    } catch (error) {
      return unreachable(error, url.href)?.problems[0] ?? String(error);
    } finally {
      await store?.close();
    }
  }

  const name = (mode: string) =>
    expect.stringMatching(`certificate is for another name .*sslmode=${mode}`);
  const date = (mode: string) =>
    expect.stringMatching(`certificate is out of date .*sslmode=${mode}`);
  const authority = (mode: string) => expect.stringMatching(`by no CA .*sslmode=${mode}`);
  const refusal = (mode: string) =>
    expect.stringMatching(`TLS is refused: the server offers none .*sslmode=${mode}`);
  const modes = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'];
  const expected: Record<string, readonly unknown[]> = {
    right: [false, true, true, true, true],
    'wrong name': [false, true, true, true, name('verify-full')],
    expired: [false, true, true, date('verify-ca'), date('verify-full')],
    foreign: [false, true, true, authority('verify-ca'), authority('verify-full')],
    none: [false, false, ...modes.slice(2).map(refusal)],
  };
  for (const [kind, results] of Object.entries(expected))
    it(`is in each mode as libpq has it, where the certificate is ${kind}`, async () => {
      const found = [];
      for (const [at, mode] of modes.entries())
        found.push(await reach(kind, `sslmode=${mode}`, at > 2 ? ours.path : undefined));
      expect(found).toEqual(results);
    });

  it('is preferred where nothing is said', async () => {
    expect([await reach('right', ''), await reach('none', '')]).toEqual([true, false]);
  });

  it('is checked with `require` where a CA is given, but not by name', async () => {
    const query = 'sslmode=require';
    expect(await reach('foreign', query, ours.path)).toEqual(authority('require'));
    expect(await reach('wrong name', query, ours.path)).toBe(true);
  });

  it('takes a CA as text, as a path, and from the address', async () => {
    const full = 'sslmode=verify-full';
    expect(await reach('right', full, ours.cert)).toBe(true);
    expect(await reach('right', full, ours.cert.replaceAll('\n', '\\n'))).toBe(true);
    expect(await reach('right', `${full}&sslrootcert=${ours.path}`)).toBe(true);
    expect(await reach('right', `${full}&sslrootcert=system`)).toEqual(authority('verify-full'));
    expect(await reach('right', full)).toEqual(authority('verify-full'));
    expect(await reach('right', full, `${directory}/none.pem`)).toMatch(
      /DATABASE_CA names .*none.pem, which cannot be read \(ENOENT\)/,
    );
  });

  it('shows a certificate of the client', async () => {
    const setup = openStore(servers['right']!.url, '.');
    await setup.query('create role certified login', []);
    await setup.close();
    const { cert, key } = ours.issue('certified');
    const [certFile, keyFile] = [`${directory}/client.pem`, `${directory}/client.key`];
    writeFileSync(certFile, cert);
    writeFileSync(keyFile, key);
    const query = `sslmode=verify-full&sslcert=${certFile}&sslkey=${keyFile}`;
    expect(await reach('right', query, ours.path, 'certified')).toBe(true);
    expect(await reach('right', 'sslmode=require', undefined, 'certified')).toMatch(
      /does not let certified in \(sslmode=require\)/,
    );
  });

  it('is left out with `prefer` where the server demands that', async () => {
    const setup = openStore(servers['right']!.url, '.');
    await setup.query(`create role plain login superuser password 'plain'`, []);
    await setup.close();
    const url = new URL(servers['right']!.url);
    Object.assign(url, { username: 'plain', password: 'plain' });
    const store = openStore(url.href, '.');
    expect((await store.describe!()).tls).toBe(false);
    await store.close();
  });

  it('refuses a mode that there is not', async () => {
    expect(() => openStore('postgres://localhost/a?sslmode=on', '.')).toThrow(
      /sslmode=on, which must be one of disable, prefer, require, verify-ca, verify-full/,
    );
  });
});
