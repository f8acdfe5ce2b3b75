import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findCommand, run, succeeds } from './command.ts';
import { startDaemon, stopDaemon } from './daemon.ts';
import { freePort } from './free-port.ts';

/** What one cluster has beside the usual. */
interface ClusterOptions {
  readonly settings?: readonly string[];
  /** Files of its folder, by name. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Makes a throwaway cluster on a free port of the loopback and starts it. Nothing in it survives a crash: it does not sync. */
export async function startPostgres(
  directory: string,
  { settings: more = [], files = {} }: ClusterOptions = {},
): Promise<{ readonly TEST_POSTGRES_URL: string }> {
  const initdb = postgresProgram('initdb');
  const account = databaseAccount();
  const data = process.env['TEST_POSTGRES_DATA'] ?? join(directory, 'data');
  const password = createCluster({ initdb, data, directory, account });
  for (const [name, text] of Object.entries(files)) {
    const path = join(data, name);
    writeFileSync(path, text, { mode: 0o600 });
    if (account.uid !== undefined) chownSync(path, account.uid, account.gid ?? account.uid);
  }
  const port = await freePort();
  const args = [
    '-D',
    data,
    '-p',
    String(port),
    ...[...settings, ...more].flatMap((setting) => ['-c', setting]),
  ];
  const ready = () =>
    succeeds(postgresProgram('pg_isready'), ['-q', '-h', '127.0.0.1', '-p', String(port)]);
  await startDaemon(
    { directory, name: 'postgres', command: postgresProgram('postgres'), args, ...account },
    ready,
  );
  return { TEST_POSTGRES_URL: `postgres://postgres:${password}@127.0.0.1:${port}/postgres` };
}

/** Stops the cluster at once, without waiting for its clients. */
export async function stopPostgres(directory: string): Promise<void> {
  await stopDaemon(directory, 'postgres', 'SIGINT');
}

const settings = [
  'listen_addresses=127.0.0.1',
  // A socket file in a temp folder can exceed the 107 bytes that a socket's path may have.
  'unix_socket_directories=',
  'fsync=off',
  'synchronous_commit=off',
  'full_page_writes=off',
  'max_connections=300',
];

interface Account {
  readonly uid?: number;
  readonly gid?: number;
}

/** The path of one of the server's programs. */
export function postgresProgram(name: string): string {
  const initdb = findCommand('initdb', debianFolders());
  if (!initdb) throw new Error('initdb is not installed; run: apt-get install postgresql');
  return initdb.replace(/initdb$/, name);
}

/** Debian keeps the server's programs off the path, one folder for each major version; the newest is first here. */
function debianFolders(): string[] {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root) : [];
  return versions
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(root, version, 'bin'));
}

export function databaseAccount(): Account {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string) => Number(run('id', [flag, 'postgres']));
  return { uid: id('-u'), gid: id('-g') };
}

/** Any account of this machine may connect to the loopback, so the superuser gets a random password, which is returned. */
function createCluster({
  initdb,
  data,
  directory,
  account,
}: {
  initdb: string;
  data: string;
  directory: string;
  account: Account;
}): string {
  const password = randomBytes(12).toString('hex');
  const passwordFile = join(directory, 'password');
  mkdirSync(data);
  writeFileSync(passwordFile, password, { mode: 0o600 });
  for (const path of [data, passwordFile]) {
    if (account.uid !== undefined) chownSync(path, account.uid, account.gid ?? account.uid);
  }
  // Thousands of tests connect: SCRAM takes both sides five milliseconds of CPU time for each connection.
  const access = ['-U', 'postgres', '-A', 'md5', `--pwfile=${passwordFile}`];
  run(initdb, ['-D', data, ...access, '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync'], account);
  return password;
}
