import { setTimeout as wait } from 'node:timers/promises';
import { CommandError, EXIT } from '../failure.ts';
import type { DeploymentReport, HostingServer } from './hosting-server.ts';

/** The deployment to follow, and where to print its lines. */
export interface FollowOptions {
  readonly app: string;
  readonly number: number;
  readonly onLine: (line: string) => void;
}

/** Milliseconds between two questions about a deployment that starts. */
const POLL_INTERVAL = 300;
/** Milliseconds that a server may be unreachable: it may be restarting. */
const OFFLINE_TIMEOUT = 60_000;

/**
 * Follows a build line by line, then the start of the app. A broken connection is opened again, and
 * the log continues where it stopped.
 *
 * @throws CommandError when the build or the start failed, with the last lines of what ran.
 */
export async function followDeployment(
  server: HostingServer,
  followed: FollowOptions,
  patience = OFFLINE_TIMEOUT,
): Promise<DeploymentReport> {
  const said: string[] = [];
  let away: number | null = null;
  for (;;) {
    try {
      // A broken stream does not mean that the server is down: a build may be silent for longer
      // than the network keeps an idle connection.
      await followLog(server, followed, said).catch((error: unknown) => {
        if (!isConnectionError(error)) throw error;
      });
      const deployment = await server.deployment(followed.app, followed.number);
      away = null;
      if (deployment.status === 'healthy') return deployment;
      if (['failed', 'cancelled', 'superseded'].includes(deployment.status))
        throw failed(deployment, said, followed);
    } catch (error) {
      if (!isConnectionError(error)) throw error;
      away ??= Date.now();
      if (Date.now() - away > patience) throw error;
    }
    await wait(POLL_INTERVAL);
  }
}

async function followLog(
  server: HostingServer,
  { app, number, onLine }: FollowOptions,
  said: string[],
): Promise<void> {
  let at = 0;
  for await (const line of server.buildLog(app, number)) {
    at += 1;
    if (at <= said.length) continue;
    said.push(line);
    onLine(line);
  }
}

/** Whether the connection failed, and not the server refused. */
function isConnectionError(error: unknown): boolean {
  return error instanceof CommandError ? error.code === 'SERVER_AWAY' : error instanceof TypeError;
}

function failed(
  { number, reason, status, log }: DeploymentReport,
  said: readonly string[],
  { app }: FollowOptions,
): CommandError {
  if (status === 'superseded')
    return new CommandError('SUPERSEDED', {
      message: `deployment ${number} of ${app} was overtaken by a later one`,
      fix: 'run again to deploy what you have now',
      exit: EXIT.again,
    });
  if (status === 'cancelled')
    return new CommandError('CANCELLED', {
      message: `deployment ${number} of ${app} was cancelled`,
      fix: 'what served before still serves',
      exit: EXIT.again,
    });
  const built = !/build/i.test(reason ?? '');
  const lines = built ? log : said;
  const last = lines
    .slice(-20)
    .map((line) => `    ${line}`)
    .join('\n');
  return new CommandError(built ? 'START_FAILED' : 'BUILD_FAILED', {
    message: `deployment ${number} of ${app} failed: ${reason ?? 'no reason was given'}${last === '' ? '' : `\n${last}`}`,
    fix: 'what served before still serves',
  });
}
