import { request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Engine } from '../engine/engine.ts';
import type { RouteTarget } from '../ingress/route-table.ts';
import type { HealthCheck, ProbeRecord } from '../records/app.ts';

/** Checks once whether a container serves. `detail` describes in a few words what happened. */
export type Probe = () => Promise<{ readonly ok: boolean; readonly detail: string }>;

/**
 * The probe of an app's health check: an HTTP request or a TCP connection, and then the command, if
 * there is one. All must succeed.
 */
export function createProbe(
  health: HealthCheck,
  target: RouteTarget,
  { engine, host }: { readonly engine: Engine; readonly host: string },
): Probe {
  const timeout = health.timeout_s * 1000;
  const { path, command } = health;
  const byPort = target.port === 0 ? NO_PORT : probePort(target, { path, host, timeout });
  if (!command) return byPort;
  return async () => {
    const seen = await byPort();
    return seen.ok ? probeCommand(engine, target.id, command, timeout) : seen;
  };
}

const NO_PORT: Probe = async () => ({ ok: true, detail: 'it has no port' });

function probePort(
  target: RouteTarget,
  { path, host, timeout }: { path: string | undefined; host: string; timeout: number },
): Probe {
  return path === undefined
    ? () => probeTcp(target, timeout)
    : () => probeHttp(target, { path, host, timeout });
}

/** Milliseconds that a worker without a health command must run to be ready. */
const WORKER_TIME = 10_000;

/** The probe of a container that has neither a port nor a health command, from its start on. */
function createTimeProbe(id: string, engine: Engine, now: () => number): Probe {
  const since = now();
  return async () => {
    const ran = now() - since;
    const ok = ran >= WORKER_TIME && (await engine.inspect(id))?.state === 'running';
    return { ok, detail: `it has run ${Math.floor(ran / 1000)} of ${WORKER_TIME / 1000} s` };
  };
}

/** The probe of a container that has just been started, and how many milliseconds to repeat it. */
export function createStartProbe(
  health: HealthCheck,
  target: RouteTarget,
  {
    engine,
    host,
    now,
    timeout,
  }: {
    readonly engine: Engine;
    readonly host: string;
    readonly now: () => number;
    readonly timeout: number;
  },
): { readonly probe: Probe; readonly timeout: number } {
  if (target.port !== 0 || health.command)
    return { probe: createProbe(health, target, { engine, host }), timeout };
  const probe = createTimeProbe(target.id, engine, now);
  return { probe, timeout: Math.max(timeout, 1.5 * WORKER_TIME) };
}

/** The result of waiting for a replica. */
export interface Readiness {
  readonly ready: boolean;
  readonly reason: string;
  readonly probes: readonly ProbeRecord[];
}

/** How many probe records a deployment keeps. */
const KEPT = 50;

/**
 * Repeats the probe until it succeeds, the container has ended, or the time is over. The first
 * pauses are short, so that a fast app is ready soon.
 */
export async function waitUntilReady(
  probe: Probe,
  {
    timeout,
    ended,
    hint = () => '',
    now,
    signal,
  }: {
    readonly timeout: number;
    readonly ended: () => Promise<string | null>;
    /** A sentence for the reason when the time is over. */
    readonly hint?: () => string;
    readonly now: () => number;
    readonly signal: AbortSignal;
  },
): Promise<Readiness> {
  const until = now() + timeout;
  const probes: ProbeRecord[] = [];
  for (let attempt = 0; ; attempt += 1) {
    const seen = await probe().catch((error: unknown) => ({
      ok: false,
      detail: String((error as Error).message),
    }));
    if (probes.length < KEPT || seen.ok)
      probes.push({ at: new Date(now()).toISOString(), ...seen });
    if (seen.ok) return { ready: true, reason: '', probes };
    const end = await ended();
    if (end !== null) return { ready: false, reason: end, probes };
    if (signal.aborted) return { ready: false, reason: 'The deployment was cancelled', probes };
    if (now() >= until)
      return {
        ready: false,
        reason: `It did not answer within ${Math.round(timeout / 1000)} s: ${seen.detail}${hint()}`,
        probes,
      };
    await sleep(Math.min(500, 20 * 1.5 ** attempt));
  }
}

function probeHttp(
  { host: address, port }: RouteTarget,
  { path, host, timeout }: { path: string; host: string; timeout: number },
): ReturnType<Probe> {
  return new Promise((resolve) => {
    const sent = request({
      host: address,
      port,
      path,
      method: 'GET',
      timeout,
      agent: false,
      headers: { host, 'user-agent': 'twofold-probe' },
    });
    sent.on('response', (answer) => {
      const status = answer.statusCode ?? 0;
      answer.destroy();
      resolve({ ok: status >= 200 && status < 400, detail: `GET ${path} answered ${status}` });
    });
    sent.on('timeout', () =>
      sent.destroy(new Error(`GET ${path} took longer than ${timeout / 1000} s`)),
    );
    sent.on('error', (error) => resolve({ ok: false, detail: describe(error) }));
    sent.end();
  });
}

/**
 * A port that an engine publishes accepts connections before the app listens, and closes them at
 * once. So a connection counts only when it stays open for a moment or when data arrives.
 */
function probeTcp({ host, port }: RouteTarget, timeout: number): ReturnType<Probe> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    let settle: NodeJS.Timeout | undefined;
    const done = (ok: boolean, detail: string) => {
      clearTimeout(settle);
      socket.destroy();
      resolve({ ok, detail });
    };
    socket.setTimeout(timeout, () =>
      done(false, `port ${port} did not answer within ${timeout / 1000} s`),
    );
    socket.on('error', (error) => done(false, describe(error)));
    socket.on('close', () => done(false, `port ${port} closed the connection`));
    socket.on('data', () => done(true, `port ${port} answers`));
    socket.on(
      'connect',
      () => (settle = setTimeout(() => done(true, `port ${port} accepts connections`), 50)),
    );
  });
}

async function probeCommand(
  engine: Engine,
  id: string,
  command: readonly string[],
  timeout: number,
): ReturnType<Probe> {
  const { exitCode, stderr, stdout } = await engine.exec(id, command, { timeout, limit: 1000 });
  const said = (stderr || stdout).trim().slice(0, 200);
  return {
    ok: exitCode === 0,
    detail: `${command[0]} ended with ${exitCode}${said ? `: ${said}` : ''}`,
  };
}

function describe(error: Error): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ECONNREFUSED') return 'the connection was refused';
  if (code === 'ECONNRESET') return 'the connection was reset';
  return error.message;
}
