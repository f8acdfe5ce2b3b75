import { findCommand, needCommand, succeeds } from './command.ts';
import { isRunning } from './daemon.ts';
import { startDocker, stopDocker } from './docker.ts';
import { startPodman, stopPodman } from './podman.ts';
import { startPostgres, stopPostgres } from './postgres.ts';

/** What tests can ask for. */
export type ServiceName = 'postgres' | 'pgbouncer' | 'docker' | 'podman' | 'chromium';

/** One service: how it is started, and what it gives to the environment. */
export interface Service {
  readonly title: string;
  readonly variable: string;
  /** Starts it with its files in a folder of its own, and returns what to export. An error says what to install. */
  readonly start: (directory: string) => Promise<Record<string, string>>;
  readonly stop: (directory: string) => Promise<void>;
  readonly runs: (directory: string) => boolean;
}

/** All services by name. */
export const services: Record<ServiceName, Service> = {
  postgres: {
    title: 'PostgreSQL',
    variable: 'TEST_POSTGRES_URL',
    start: startPostgres,
    stop: stopPostgres,
    runs: (directory) => isRunning(directory, 'postgres'),
  },
  pgbouncer: {
    title: 'PgBouncer',
    variable: 'TEST_PGBOUNCER',
    start: findPgbouncer,
    stop: async () => {},
    runs: () => false,
  },
  docker: {
    title: 'Docker',
    variable: 'TEST_DOCKER_SOCKET',
    start: startDocker,
    stop: stopDocker,
    runs: (directory) => isRunning(directory, 'dockerd'),
  },
  podman: {
    title: 'Podman',
    variable: 'TEST_PODMAN_SOCKET',
    start: startPodman,
    stop: stopPodman,
    runs: (directory) => isRunning(directory, 'podman'),
  },
  chromium: {
    title: 'Chromium',
    variable: 'TEST_CHROMIUM',
    start: findChromium,
    stop: async () => {},
    runs: () => false,
  },
};

async function findChromium(): Promise<Record<string, string>> {
  const found = ['chromium', 'chromium-browser', 'google-chrome']
    .map((name) => findCommand(name))
    .find(Boolean);
  if (!found) throw new Error('chromium is not installed; run: apt-get install chromium');
  if (!succeeds(found, ['--version']))
    throw new Error(`${found} does not start; try: ${found} --version`);
  return { TEST_CHROMIUM: found };
}

/** Each test starts one of its own, with the size of pool that it asks for. */
async function findPgbouncer(): Promise<Record<string, string>> {
  return { TEST_PGBOUNCER: needCommand('pgbouncer', 'pgbouncer') };
}
