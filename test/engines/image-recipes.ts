import {
  appendFileSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { findCommand, needCommand, run } from './command.ts';

/** How one image is made. */
export interface ImageRecipe {
  readonly command: readonly string[];
  readonly env?: readonly string[];
  /** Where programs are looked for, if they are not in the usual folders alone. */
  readonly path?: string;
  /** The folder that the command runs in. */
  readonly folder: string;
  /** Files of this machine that go in; a change of one makes a new image. */
  readonly programs: readonly string[];
  /** Fills an empty folder with the image's root. */
  readonly fill: (root: string) => void;
}

/** The images that tests can ask for. */
export type ImageName =
  | 'twofold-test/web:1'
  | 'twofold-test/web:2'
  | 'twofold-test/node:1'
  | 'twofold-test/postgres:1'
  | 'twofold-test/mariadb:1'
  | 'twofold-test/redis:1';

const authorities = '/etc/ssl/certs/ca-certificates.crt';

/** Recipes by image name; a function, as the programs are only looked for when somebody asks. */
export const imageRecipes: Record<ImageName, () => ImageRecipe> = {
  'twofold-test/web:1': () => webRecipe('version 1'),
  'twofold-test/web:2': () => webRecipe('version 2'),
  'twofold-test/node:1': nodeRecipe,
  'twofold-test/postgres:1': postgresRecipe,
  'twofold-test/mariadb:1': mariadbRecipe,
  'twofold-test/redis:1': redisRecipe,
};

/** A web server of one page, which says its version. It listens on $PORT or 8080 and ends at once on SIGTERM. */
function webRecipe(version: string): ImageRecipe {
  const busybox = staticBusybox();
  const serve = [
    `echo "${version} starts"`,
    'httpd -f -v -p "${PORT:-8080}" -h /www & server=$!',
    // The first process of a container ignores signals that it does not handle: without the trap a stop takes ten seconds.
    `trap 'echo "${version} stops"; kill $server; exit 0' TERM INT`,
    `echo "${version} listens on \${PORT:-8080}"`,
    'wait',
  ];
  return {
    command: ['sh', '-c', serve.join('\n')],
    folder: '/www',
    programs: [busybox],
    fill(root) {
      fillBase(root, busybox);
      mkdirSync(join(root, 'www'));
      writeFileSync(join(root, 'www', 'index.html'), `${version}\n`);
    },
  };
}

/** This machine's own Node with the libraries it needs, npm and a shell: enough for `RUN npm ci` and `CMD node server.ts`. */
function nodeRecipe(): ImageRecipe {
  const busybox = staticBusybox();
  const node = realpathSync(process.execPath);
  const libraries = librariesOf([node]);
  return {
    command: ['node', '--version'],
    env: [`NODE_EXTRA_CA_CERTS=${authorities}`],
    folder: '/app',
    programs: [busybox, node, ...libraries],
    fill(root) {
      fillBase(root, busybox);
      mkdirSync(join(root, 'app'));
      copyProgram(root, node, '/bin/node');
      for (const library of libraries) copyProgram(root, library, library);
      copyNpm(root);
      copyAuthorities(root);
    },
  };
}

/**
 * This machine's own PostgreSQL, started as the official image starts it: the same variables, the same
 * folder, a superuser without a password on the socket.
 */
function postgresRecipe(): ImageRecipe {
  const busybox = staticBusybox();
  const [version = ''] = readdirSync('/usr/lib/postgresql').sort().toReversed();
  const programs = `/usr/lib/postgresql/${version}`;
  const names = ['postgres', 'initdb', 'pg_ctl', 'psql', 'pg_dump', 'pg_dumpall', 'createdb'];
  const files = names.map((name) => join(programs, 'bin', name));
  const libraries = librariesOf(files);
  const start = [
    'set -e',
    'as() { su -s /bin/sh postgres -c "$1"; }',
    'mkdir -p "$PGDATA" /run/postgresql',
    'chown -R postgres "$PGDATA" /run/postgresql',
    'chmod 700 "$PGDATA"',
    'options="-c unix_socket_directories=/run/postgresql -c fsync=off"',
    'if [ ! -s "$PGDATA/PG_VERSION" ]; then',
    '  printf "%s" "$POSTGRES_PASSWORD" > /tmp/password; chown postgres /tmp/password',
    '  as "initdb -D $PGDATA -U $POSTGRES_USER --pwfile=/tmp/password --auth-local=trust --auth-host=scram-sha-256 --no-locale -E UTF8 --no-sync > /dev/null"',
    '  echo "host all all all scram-sha-256" >> "$PGDATA/pg_hba.conf"',
    `  as "pg_ctl -D $PGDATA -w start -o \\"$options -c listen_addresses=''\\" > /dev/null"`,
    '  as "createdb -h /run/postgresql -U $POSTGRES_USER $POSTGRES_DB"',
    '  as "pg_ctl -D $PGDATA -w -m fast stop > /dev/null"',
    // Its file is gone a moment before it, and start-stop-daemon starts no second one.
    '  while pidof postgres > /dev/null; do sleep 0.1; done',
    'fi',
    // It becomes the program itself: a shell between would not pass on the signal to end.
    `exec start-stop-daemon -S -c postgres -x ${programs}/bin/postgres -- -D $PGDATA $options -c listen_addresses='*'`,
  ];
  return {
    command: ['sh', '-c', start.join('\n')],
    path: `${programs}/bin:/bin:/usr/bin`,
    env: ['PGHOST=/run/postgresql'],
    folder: '/',
    programs: [busybox, ...files, ...libraries],
    fill(root) {
      fillBase(root, busybox);
      appendFileSync(join(root, 'etc/passwd'), 'postgres:x:999:999:postgres:/tmp:/bin/sh\n');
      for (const file of [...files, ...libraries]) copyProgram(root, file, file);
      for (const folder of [`${programs}/lib`, `/usr/share/postgresql/${version}`])
        cpSync(folder, join(root, folder), { recursive: true, filter: isNeeded });
      for (const zone of ['UTC', 'GMT', 'Etc'])
        cpSync(`/usr/share/zoneinfo/${zone}`, join(root, 'usr/share/zoneinfo', zone), {
          recursive: true,
          dereference: true,
        });
    },
  };
}

/** Compiled functions for JIT and the translations of messages are most of the files. */
const isNeeded = (path: string) => !/bitcode|llvmjit|locale|\.mo$/.test(path);

/**
 * This machine's own MariaDB, as the official image starts it: the same variables, the same folder, a
 * root with a password. The empty database is made here once, and copied by each container.
 */
function mariadbRecipe(): ImageRecipe {
  const busybox = staticBusybox();
  const files = [
    needCommand('mariadbd', 'mariadb-server-core'),
    needCommand('mariadb', 'mariadb-client'),
    needCommand('mariadb-dump', 'mariadb-client'),
  ].map((path) => realpathSync(path));
  const libraries = librariesOf(files);
  const small = ['--no-defaults', '--user=root', '--innodb-log-file-size=4M'];
  const start = [
    'set -e',
    'mkdir -p /run/mysqld /var/lib/mysql',
    'if [ ! -d /var/lib/mysql/mysql ]; then',
    '  cp -a /empty/. /var/lib/mysql/',
    '  cat > /tmp/first.sql <<END',
    "ALTER USER root@localhost IDENTIFIED BY '$MARIADB_ROOT_PASSWORD';",
    'CREATE DATABASE $MARIADB_DATABASE;',
    "CREATE USER $MARIADB_USER@'%' IDENTIFIED BY '$MARIADB_PASSWORD';",
    "GRANT ALL ON $MARIADB_DATABASE.* TO $MARIADB_USER@'%';",
    'END',
    '  set -- --init-file=/tmp/first.sql',
    'fi',
    `exec mariadbd ${small.join(' ')} --datadir=/var/lib/mysql --innodb-flush-log-at-trx-commit=0 "$@"`,
  ];
  return {
    command: ['sh', '-c', start.join('\n'), 'mariadbd'],
    folder: '/',
    programs: [busybox, ...files, ...libraries],
    fill(root) {
      fillBase(root, busybox);
      for (const file of [...files, ...libraries]) copyProgram(root, file, file);
      link(root, files[0]!, '/bin/mariadbd');
      for (const folder of ['english', 'charsets'])
        cpSync(`/usr/share/mysql/${folder}`, join(root, 'usr/share/mysql', folder), {
          recursive: true,
        });
      const empty = [`--datadir=${join(root, 'empty')}`, '--skip-test-db'];
      run('mariadb-install-db', [...small, ...empty, '--auth-root-authentication-method=normal']);
    },
  };
}

/** This machine's own Redis. Its template says how it is started. */
function redisRecipe(): ImageRecipe {
  const busybox = staticBusybox();
  const [server, client] = ['redis-server', 'redis-cli'].map((name) =>
    realpathSync(needCommand(name, 'redis-server')),
  ) as [string, string];
  const libraries = librariesOf([server, client]);
  return {
    command: ['redis-server'],
    folder: '/data',
    programs: [busybox, server, client, ...libraries],
    fill(root) {
      fillBase(root, busybox);
      mkdirSync(join(root, 'data'));
      copyProgram(root, server, '/bin/redis-server');
      copyProgram(root, client, '/bin/redis-cli');
      for (const library of libraries) copyProgram(root, library, library);
    },
  };
}

function librariesOf(files: readonly string[]): string[] {
  const found = files.flatMap((file) => [...run('ldd', [file]).matchAll(/\/\S+/g)]);
  return [...new Set(found.map(([path]) => path))];
}

function staticBusybox(): string {
  const busybox = realpathSync(needCommand('busybox', 'busybox-static'));
  const needs = run('sh', ['-c', 'ldd "$1" 2>&1 || true', 'sh', busybox]);
  if (/=>/.test(needs))
    throw new Error(
      `${busybox} needs libraries, which an image lacks; run: apt-get install busybox-static`,
    );
  return busybox;
}

/** A shell, the usual commands, two accounts and a folder for temporary files. */
function fillBase(root: string, busybox: string): void {
  for (const folder of ['bin', 'etc', 'root', 'usr/bin', 'var'])
    mkdirSync(join(root, folder), { recursive: true });
  mkdirSync(join(root, 'tmp'));
  run('chmod', ['1777', join(root, 'tmp')]);
  copyProgram(root, busybox, '/bin/busybox');
  for (const name of run(busybox, ['--list']).split('\n'))
    link(root, '/bin/busybox', `/bin/${name}`);
  link(root, '/bin/busybox', '/usr/bin/env');
  writeFileSync(
    join(root, 'etc/passwd'),
    'root:x:0:0:root:/root:/bin/sh\nnode:x:1000:1000:node:/tmp:/bin/sh\n',
  );
  writeFileSync(join(root, 'etc/group'), 'root:x:0:\nnode:x:1000:\n');
}

function copyProgram(root: string, from: string, to: string): void {
  mkdirSync(dirname(join(root, to)), { recursive: true });
  copyFileSync(from, join(root, to));
}

function copyNpm(root: string): void {
  const npm = findCommand('npm');
  const folder = npm && join(realpathSync(npm), '../..');
  if (!folder || !existsSync(join(folder, 'bin/npm-cli.js'))) return;
  cpSync(folder, join(root, 'usr/lib/node_modules/npm'), { recursive: true, dereference: true });
  link(root, '/usr/lib/node_modules/npm/bin/npm-cli.js', '/bin/npm');
  link(root, '/usr/lib/node_modules/npm/bin/npx-cli.js', '/bin/npx');
}

/** A network that replaces certificates with its own is known to this machine, and so must be to `npm ci` in a build. */
function copyAuthorities(root: string): void {
  const from = process.env.NODE_EXTRA_CA_CERTS ?? authorities;
  if (existsSync(from)) copyProgram(root, from, authorities);
}

function link(root: string, target: string, name: string): void {
  if (!existsSync(join(root, name))) symlinkSync(target, join(root, name));
}
