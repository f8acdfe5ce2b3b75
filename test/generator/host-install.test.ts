import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { envValues, printEnv } from '../../generator/host/env-file.ts';
import { planInstall } from '../../generator/host/install-plan.ts';
import { whileLocked } from '../../generator/host/lock.ts';
import { readSystem } from '../../generator/host/system.ts';
import { generator, makeProject, SEED, type TestProject } from './project.ts';

const SYSTEMS: Readonly<Record<string, string>> = {
  debian: 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nVERSION_ID="12"\nID=debian\n',
  ubuntu: 'NAME="Ubuntu"\nVERSION_ID="22.04"\nID=ubuntu\nID_LIKE=debian\n',
  fedora: "NAME='Fedora Linux'\nVERSION_ID=40\nID=fedora\n",
};

describe('host install --root', () => {
  let project: TestProject;
  // Units are checked with the program that they start, in a folder that is not below /tmp.
  const folder = mkdtempSync('/var/tmp/tf-install-');
  const place = join(folder, 'place');
  beforeAll(() => {
    project = makeProject({
      'schema.graphql': SEED,
      'manifest.yaml': 'name: shop\nhosting: {}\n',
      '.env': 'HOST=127.0.0.1\nSMTP_URL="smtps://u:p#1@mail.test"\nJWT_SECRET=given\n',
    });
    mkdirSync(join(place, 'current/bin'), { recursive: true });
    symlinkSync(process.execPath, join(place, 'current/bin/node'));
  });
  afterAll(() => {
    project.remove();
    rmSync(folder, { recursive: true });
  });

  const below = (name: string, osRelease: string): string => {
    const root = join(folder, name);
    mkdirSync(join(root, 'etc'), { recursive: true });
    writeFileSync(join(root, 'etc/os-release'), osRelease);
    return root;
  };
  const install = (root: string, ...more: string[]) =>
    generator(['host', 'install', '--root', root, ...more], project.root);

  it.each(Object.entries(SYSTEMS))(
    'writes units for %s that systemd takes, and that may do little',
    async (name, osRelease) => {
      const root = below(name, osRelease);
      const options = ['--dir', place, '--domain', 'apps.test', '--url', 'https://panel.test'];
      const { code, stdout } = await install(root, ...options, '--json');
      const { files, firewall } = JSON.parse(stdout) as Record<string, string[]>;
      expect([code, files!.filter((path) => !existsSync(join(root, path)))]).toEqual([0, []]);
      expect(firewall!.map((line) => line.split(/[ -]/)[0])).toEqual(['ufw', 'firewall', 'nft']);
      const env = join(root, 'etc/twofold/env');
      expect(statSync(env).mode & 0o777).toBe(0o600);
      expect(parseEnv(readFileSync(env, 'utf8'))).toEqual({
        ...{ SMTP_URL: 'smtps://u:p#1@mail.test', JWT_SECRET: 'given' },
        ...{ HOSTING_DOMAIN: 'apps.test', APP_URL: 'https://panel.test' },
        PORT: '8080',
        HOST_PASSWORD: expect.stringMatching(/^.{43}$/),
      });
      const units = ['twofold.service', 'twofold-ingress.service'];
      const analyze = (...words: string[]) =>
        execFileSync('systemd-analyze', words, {
          encoding: 'utf8',
          env: { ...process.env, SYSTEMD_UNIT_PATH: `${join(root, 'etc/systemd/system')}:` },
        });
      expect(
        analyze('verify', ...units.map((unit) => join(root, 'etc/systemd/system', unit))),
      ).toBe('');
      // Fails if one of them is exposed to more than 5.0.
      analyze('security', '--offline=true', '--threshold=50', ...units);
    },
  );

  it('keeps secrets, place and options of the run before', async () => {
    const root = below('again', SYSTEMS['debian']!);
    await install(root, '--dir', '/srv/shop', '--domain', 'apps.test');
    const read = () => readFileSync(join(root, 'etc/twofold/env'), 'utf8');
    const before = read();
    expect((await install(root)).code).toBe(0);
    expect(read()).toBe(before);
    const moved = await install(root, '--dir', '/opt/other', '--json');
    expect([moved.code, JSON.parse(moved.stdout).error.code]).toEqual([2, 'HOST_ELSEWHERE']);
  });

  it('shows no secret and changes nothing with --dry-run', async () => {
    const root = below('dry', SYSTEMS['fedora']!);
    const { code, stdout } = await install(root, '--dry-run', '--json');
    const { files, commands } = JSON.parse(stdout) as {
      files: { path: string; mode: string; text: string }[];
      commands: string[][];
    };
    const env = files.find(({ path }) => path === '/etc/twofold/env');
    expect([code, env?.mode, existsSync(join(root, 'etc/twofold'))]).toEqual([0, '0600', false]);
    expect(env?.text).toMatch(/^JWT_SECRET=\*\*\*$/m);
    expect(stdout).not.toContain('u:p#1');
    expect(commands.at(-1)).toEqual(['systemctl', 'restart', 'twofold.service']);
    const copied = commands.find(([program]) => program === 'cp');
    expect(copied).toContain(`${project.root}/manifest.yaml`);
    expect(copied).not.toContain(`${project.root}/.env`);
  });

  it('ends with 2 and names the system that it is not for', async () => {
    const root = below('alpine', 'PRETTY_NAME="Alpine Linux v3.20"\nID=alpine\nVERSION_ID=3.20\n');
    const { code, stdout } = await install(root, '--json');
    const { error } = JSON.parse(stdout);
    expect([code, error.code, existsSync(join(root, 'etc/twofold'))]).toEqual([
      ...[2, 'SYSTEM_UNSUPPORTED', false],
    ]);
    expect(error.message).toContain('Alpine Linux v3.20');
  });
});

describe('the plan of an installation', () => {
  const options = { user: 'twofold', dir: '/opt/twofold', domain: null, url: null, email: null };
  const input = {
    system: readSystem(SYSTEMS['fedora']!),
    project: {
      ...{
        name: 'shop',
        root: '/srv/shop',
        env: null,
        ports: { http: 80, https: 443 },
        port: 8080,
      },
      entries: ['.env', '.env.local', '.git', 'data', 'node_modules', 'src'],
    },
    options,
    facts: { releases: [], current: null, env: null, engine: null },
    ...{ release: '4', node: '/usr/bin/node', secret: () => 'made' },
  } as const;

  it.each([
    ['PRETTY_NAME="Debian GNU/Linux 11"\nID=debian\nVERSION_ID="11"\n', /Debian GNU\/Linux 11/],
    ['NAME=Ubuntu\nID=ubuntu\nVERSION_ID="20.04"\n', /Ubuntu 20.04/],
    ['NAME="Fedora Linux"\nID=fedora\nVERSION_ID=39\n', /Fedora Linux 39/],
    ['ID=constructor\n', /constructor/],
    ['', /no name/],
  ])('is none for %j', (osRelease, named) => {
    expect(() => readSystem(osRelease)).toThrow(named);
  });

  it.each([
    { user: 'root' },
    { user: 'a b' },
    { dir: '/home/me/twofold' },
    { dir: '/opt/../etc/x' },
    { dir: '/opt/%h' },
    { domain: 'a\nUser=root' },
    { url: 'ftp://x' },
    { url: 'http://panel.test' },
    { email: "a'b@x" },
  ])('refuses %j', (wrong) => {
    const [name] = Object.keys(wrong);
    expect(() => planInstall({ ...input, options: { ...options, ...wrong } })).toThrow(`--${name}`);
  });

  it('has only what a release needs, removes what an interrupted run left, and keeps three', () => {
    const releases = ['0', '1', '2', '3', '3b.part'];
    const { commands } = planInstall({
      ...input,
      facts: { ...input.facts, releases, current: '3' },
    });
    expect(commands.filter(([program]) => program === 'rm').map((words) => words.at(-1))).toEqual(
      ['3b.part', '0', '1'].map((name) => `/opt/twofold/releases/${name}`),
    );
    expect(commands.find(([program]) => program === 'cp')).toEqual([
      ...['cp', '-a', '--reflink=auto', '--', '/srv/shop/node_modules', '/srv/shop/src'],
      '/opt/twofold/releases/4.part',
    ]);
    expect(
      commands.some((words) => words.includes('twofold-ingress.service') && words[1] === 'restart'),
    ).toBe(false);
  });

  it('opens the socket of Podman, or names the package of an engine', () => {
    const podman = planInstall({ ...input, facts: { ...input.facts, engine: 'podman' } });
    expect(podman.files.find(({ path }) => path.includes('podman'))?.text).toContain(
      'SocketGroup=twofold',
    );
    expect(podman.files.some(({ text }) => text.includes('docker -'))).toBe(false);
    expect(podman.notes).toEqual([]);
    expect(planInstall(input).notes).toEqual([expect.stringContaining('dnf install')]);
  });

  it('writes values that Node and systemd read alike, and refuses others', () => {
    const project = `A="it's"\nB='a "b" $c \\\\d'\nC=plain\n`;
    const values = envValues({
      existing: null,
      project,
      port: 8080,
      options,
      secret: () => 'made',
    });
    expect(parseEnv(printEnv(values))).toEqual({ ...values });
    expect(values).toMatchObject({ A: "it's", C: 'plain', JWT_SECRET: 'made' });
    for (const wrong of [`it's "both"`, "it's $x", 'two\nlines'])
      expect(() => printEnv({ WRONG: wrong })).toThrow(/WRONG/);
  });
});

describe('the lock of a host', () => {
  const path = join(tmpdir(), `tf-host-${process.pid}.lock`);
  afterAll(() => rmSync(path, { force: true }));

  it('lets one command work at a time, and is free when that has ended or failed', async () => {
    const begun = Promise.withResolvers<void>();
    const end = Promise.withResolvers<string>();
    const first = whileLocked(path, () => (begun.resolve(), end.promise));
    await begun.promise;
    await expect(whileLocked(path, async () => 'second')).rejects.toMatchObject({
      ...{ code: 'HOST_BUSY', exitCode: 75 },
    });
    end.resolve('first');
    expect(await first).toBe('first');
    const failed = whileLocked(path, () => Promise.reject(new Error('failed')));
    await expect(failed).rejects.toThrow('failed');
    expect(await whileLocked(path, async () => 'third')).toBe('third');
  });
});
