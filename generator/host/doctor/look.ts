import { lookup } from 'node:dns/promises';
import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { request } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { parseEnv } from 'node:util';
import { readProjectOf } from '../../read-project.ts';
import { placeBelow, textOf } from '../facts.ts';
import { askHealth, localUrl } from '../health.ts';
import { DEFAULT_PLACE, PATHS } from '../place.ts';
import { type HostClient, openHost } from '../server-client.ts';
import { outputOf } from '../services.ts';
import type { HostState } from './checks.ts';
import { lateBackups, type ScheduledApp } from './late-backups.ts';

/** The fields of an app that the doctor needs. */
interface SeenApp extends ScheduledApp {
  readonly domain: string | null;
  readonly aliases?: readonly string[];
}

/** Looks at this machine, and asks the server as its operator. What does not answer is null. */
export async function lookAtHost(): Promise<HostState> {
  const { dir } = placeBelow('/') ?? DEFAULT_PLACE;
  const envText = textOf(PATHS.env) ?? '';
  const env = parseEnv(envText);
  const health = await askHealth(localUrl(envText));
  const client = health && (await openHost(envText).catch(() => null));
  const apps = client ? (await client<{ apps: SeenApp[] }>('GET', '/api/apps')).apps : [];
  const names = namesOf(apps, env['APP_URL']);
  const { project } = existsSync(join(dir, 'current/schema.graphql'))
    ? await readProjectOf(join(dir, 'current'))
    : { project: null };
  const { http = 80, https = 443, acme } = project?.hosting?.ingress ?? {};
  const wantsTls = Boolean(http && https && (env['ACME_EMAIL'] || acme?.email));
  return {
    ...{ engine: await lookAtEngine(), ingress: health?.ingress ?? null },
    names: await Promise.all(names.map(async (name) => ({ name, addresses: await resolve(name) }))),
    certificates: wantsTls ? await Promise.all(names.map((name) => daysOf(name, https))) : [],
    ...{ disk: await diskAt(dir), memory: memoryNow(), clock: await clockNow() },
    units: await Promise.all(UNITS.map(unitState)),
    lateBackups: client && (await lateApps(client, apps, dir)),
    trustedProxies: project?.server.trustedProxies ?? [],
    ...{ behindProxy: env['HOSTING_REDIRECT'] === 'off', data: join(dir, 'data') },
  };
}

const UNITS = ['twofold.service', 'twofold-ingress.service'] as const;

async function unitState(unit: string) {
  const show = ['show', '--property', 'LoadState,ActiveState,UnitFileState', unit];
  const values = parseEnv(await outputOf('systemctl', ...show));
  const { LoadState: load, ActiveState: active, UnitFileState: file } = values;
  return { unit, state: load === 'loaded' ? `${active} ${file}` : (load ?? 'not-found') };
}

/** Names of apps and of the server. One below a wildcard stands for all. */
function namesOf(apps: readonly SeenApp[], appUrl: string | undefined): string[] {
  const own = appUrl === undefined ? [] : [new URL(appUrl).hostname];
  const ofApps = apps.flatMap(({ domain, aliases = [] }) => [
    ...(domain ? [domain] : []),
    ...aliases,
  ]);
  const exact = [...own, ...ofApps].map((name) => name.replace(/^\*\./, 'any.'));
  return [...new Set(exact)].filter((name) => !/(^|\.)localhost$/.test(name));
}

async function resolve(name: string): Promise<string[]> {
  const found = await lookup(name, { all: true }).catch(() => []);
  return found.map(({ address }) => address);
}

/** How long the certificate that the ingress of this machine shows is valid. */
function daysOf(name: string, port: number): Promise<{ name: string; days: number | null }> {
  return new Promise((done) => {
    const options = { host: '127.0.0.1', port, servername: name, rejectUnauthorized: false };
    const socket = connect({ ...options, timeout: 5000 });
    const end = (days: number | null) => (socket.destroy(), done({ name, days }));
    socket.once('secureConnect', () => {
      const until = Date.parse(socket.getPeerCertificate().valid_to);
      end(Math.floor((until - Date.now()) / 86_400_000));
    });
    socket.once('error', () => end(null)).once('timeout', () => end(null));
  });
}

const SOCKETS = ['/run/docker.sock', '/run/podman/podman.sock'];

async function lookAtEngine(): Promise<HostState['engine']> {
  for (const path of SOCKETS) {
    const info = await askEngine(path).catch(() => null);
    if (info) return info;
  }
  return null;
}

function askEngine(socketPath: string): Promise<NonNullable<HostState['engine']>> {
  return new Promise((done, fail) => {
    const asked = request({ socketPath, path: '/info', timeout: 5000 }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      answer.once('end', () => {
        try {
          const { ServerVersion, LiveRestoreEnabled } = JSON.parse(text);
          const docker = !socketPath.includes('podman');
          const version = `${docker ? 'Docker' : 'Podman'} ${ServerVersion}`;
          done({ version, liveRestore: docker ? LiveRestoreEnabled === true : null });
        } catch (error) {
          fail(error as Error);
        }
      });
    });
    asked
      .once('error', fail)
      .once('timeout', () => asked.destroy(new Error('timeout')))
      .end();
  });
}

async function diskAt(dir: string): Promise<HostState['disk']> {
  const { bavail, blocks, bsize } = await statfs(existsSync(dir) ? dir : '/');
  return { free: bavail * bsize, size: blocks * bsize };
}

function memoryNow(): HostState['memory'] {
  const text = textOf('/proc/meminfo') ?? '';
  const read = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) * 1024;
  return { free: read('MemAvailable'), size: read('MemTotal') };
}

async function clockNow(): Promise<boolean | null> {
  const said = await outputOf('timedatectl', 'show', '--value', '--property', 'NTPSynchronized');
  return { yes: true, no: false }[said.trim()] ?? null;
}

/** The program of the host brings the reader of schedules with it. */
async function lateApps(client: HostClient, apps: readonly SeenApp[], dir: string) {
  if (!apps.some(({ backup }) => backup?.schedule)) return [];
  const load = createRequire(join(dir, 'current/package.json'));
  const { Cron } = load('croner') as typeof import('croner');
  return lateBackups(client, apps, { Schedule: Cron, now: Date.now() });
}
