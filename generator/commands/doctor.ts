import { environmentOf } from '../secrets.ts';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import type { Project } from '@twofold/schema';
import type { CommandCall } from '../cli/command.ts';
import { CommandError, EXIT, type ExitCode } from '../failure.ts';
import { missingSteps } from '../migrations/missing-steps.ts';
import { readProjectOf } from '../read-project.ts';
import { askProject } from '../run-project.ts';

/** The result of one check. */
interface DoctorCheck {
  readonly what: string;
  readonly ok: boolean;
  readonly text: string;
  /** The command that repairs it. */
  readonly fix?: string;
  /** What a server finds of its PostgreSQL. */
  readonly database?: object;
}

/**
 * `generator doctor`: lists problems, each with the command that repairs it. Exits with 1 if there
 * are any.
 */
export async function run(call: CommandCall): Promise<ExitCode> {
  const root = resolve(call.cwd);
  const { terminal } = call;
  const checks = await examine(root);
  if (terminal.json) terminal.document({ ok: checks.every(({ ok }) => ok), checks });
  else {
    for (const { what, ok, text, fix } of checks) {
      terminal.data(
        `${ok ? terminal.paint.green('ok   ') : terminal.paint.red('wrong')}  ${what.padEnd(10)}  ${text}\n` +
          `${fix === undefined ? '' : `       fix         ${fix}\n`}`,
      );
    }
  }
  return checks.every(({ ok }) => ok) ? EXIT.done : EXIT.differs;
}

async function examine(root: string): Promise<DoctorCheck[]> {
  const { project, findings } = await readProjectOf(root);
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  const inputs: DoctorCheck = {
    what: 'inputs',
    ok: errors === 0,
    text: errors === 0 ? 'schema and manifest are right' : `${errors} errors`,
    ...(errors > 0 && { fix: 'npm run check' }),
  };
  const env = environmentOf(root);
  const packages = checkPackages(root);
  const secrets = project ? checkSecrets(project, root, env) : [];
  const rest = project
    ? [
        await checkMigrations(root),
        ...secrets,
        await checkPort(project, env),
        ...(packages.ok && errors === 0 ? await checkProgram(root, secrets) : []),
        ...checkEngine(project, env),
      ]
    : [];
  return [{ what: 'node', ok: true, text: process.version }, packages, inputs, ...rest];
}

/** What every project needs: its server, and what its commands change the database with. */
function checkPackages(root: string): DoctorCheck {
  const what = 'packages';
  const find = (name: string) => findUpwards(root, `node_modules/@twofold/${name}/package.json`);
  const missing = ['runtime', 'database'].find((name) => !find(name));
  if (missing)
    return { what, ok: false, text: `@twofold/${missing} is not installed`, fix: 'npm install' };
  const { version } = JSON.parse(readFileSync(find('runtime')!, 'utf8')) as { version: string };
  return { what, ok: true, text: `@twofold/runtime ${version}` };
}

function findUpwards(folder: string, path: string): string | null {
  const full = join(folder, path);
  if (existsSync(full)) return full;
  const parent = join(folder, '..');
  return parent === folder ? null : findUpwards(parent, path);
}

function checkSecrets(
  { auth, hosting }: Project,
  root: string,
  env: Readonly<Record<string, string | undefined>>,
): DoctorCheck[] {
  const wanted = [
    ...(auth || hosting ? ['JWT_SECRET'] : []),
    ...(hosting && !env['HOST_PASSWORD_HASH'] ? ['HOST_PASSWORD'] : []),
  ];
  const checks = wanted.map((name): DoctorCheck => {
    const value = env[name] ?? '';
    const least = name === 'JWT_SECRET' ? 32 : 1;
    const ok = value.length >= least;
    return {
      what: 'secrets',
      ok,
      text: ok
        ? `${name} is set`
        : value === ''
          ? `${name} is not set`
          : `${name} has less than ${least} characters`,
      ...(!ok && { fix: `echo "${name}=$(openssl rand -base64 32)" >> .env` }),
    };
  });
  const file = join(root, '.env');
  const open =
    process.platform !== 'win32' && existsSync(file) && (statSync(file).mode & 0o077) !== 0;
  return open
    ? [
        ...checks,
        {
          what: 'secrets',
          ok: false,
          text: '.env can be read by others on this machine',
          fix: 'chmod 600 .env',
        },
      ]
    : checks;
}

/** Checks that the files in migrations/ produce the tables of the schema. */
async function checkMigrations(root: string): Promise<DoctorCheck> {
  const missing = await missingSteps(root);
  const what = 'migrations';
  if (missing.length === 0) return { what, ok: true, text: 'they lead to the schema' };
  return {
    what,
    ok: false,
    text: `no migration makes ${missing.join(', ')}`,
    fix: 'npm run generate',
  };
}

async function checkPort(
  { server }: Project,
  env: Readonly<Record<string, string | undefined>>,
): Promise<DoctorCheck> {
  const port = Number(env['PORT'] ?? server.port);
  const problem = await new Promise<string | null>((done) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) =>
      done(error.code === 'EADDRINUSE' ? 'something listens there already' : String(error.code)),
    );
    probe.listen({ port, exclusive: true }, () => probe.close(() => done(null)));
  });
  return {
    what: 'port',
    ok: problem === null,
    text: problem === null ? `${port} is free` : `${port}: ${problem}`,
    ...(problem !== null && { fix: 'PORT=8081 npm start' }),
  };
}

/**
 * The server's own code checks the database. It does not start while a setting is missing or wrong.
 */
async function checkProgram(root: string, secrets: readonly DoctorCheck[]): Promise<DoctorCheck[]> {
  const settings = await checkSettings(root);
  const ready = [...secrets, ...settings].every(({ ok }) => ok);
  return [...settings, ...(ready ? await checkDatabase(root) : [NOT_ASKED])];
}

const NOT_ASKED: DoctorCheck = {
  what: 'database',
  ok: false,
  text: 'not asked: a setting is missing or wrong',
  fix: 'mend the settings first',
};

/**
 * The findings of the server's own check of its settings: an incomplete provider, a weak key, a
 * webhook without a secret.
 */
async function checkSettings(root: string): Promise<DoctorCheck[]> {
  try {
    const { problems, inProduction } = await askProject<{
      problems: string[];
      inProduction: string[];
    }>(root, 'settingsOfApp');
    const wrong = problems
      .filter((text) => !/^JWT_SECRET /.test(text))
      .map((text): DoctorCheck => ({
        what: 'settings',
        ok: false,
        text,
        fix: 'change it in .env or in manifest.yaml',
      }));
    const later = inProduction.map((text): DoctorCheck => ({
      what: 'settings',
      ok: true,
      text: `not in production: ${text}`,
    }));
    return wrong.length + later.length === 0
      ? [{ what: 'settings', ok: true, text: 'the server takes them' }]
      : [...wrong, ...later];
  } catch (error) {
    if (error instanceof CommandError)
      return [
        {
          what: 'settings',
          ok: false,
          text: error.message,
          ...(error.fix !== undefined && { fix: error.fix }),
        },
      ];
    throw error;
  }
}

/** The number of migrations that are named in a line. */
const NAMED = 3;

function firstOf(pending: readonly string[]): string {
  const more = pending.length - NAMED;
  return `${pending.slice(0, NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

interface DatabaseReport {
  readonly pending: readonly string[];
  /** What follows is absent for SQLite. */
  readonly text?: string;
  readonly database?: object;
  readonly warnings?: readonly string[];
}

async function checkDatabase(root: string): Promise<DoctorCheck[]> {
  const what = 'database';
  try {
    const {
      pending,
      text = 'reached',
      database,
      warnings = [],
    } = await askProject<DatabaseReport>(root, 'databaseReport');
    const state =
      pending.length === 0
        ? `${text}, and up to date`
        : `${text}; ${pending.length} migrations wait: ${firstOf(pending)}`;
    return [
      {
        what,
        ok: true,
        text: state,
        ...(database && { database }),
        ...(pending.length > 0 && { fix: 'npm run migrate' }),
      },
      ...warnings.map((warning) => ({ what, ok: true, text: warning })),
    ];
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    const code = error.code.startsWith('DATABASE_') ? `${error.code}  ` : '';
    return [
      {
        what,
        ok: false,
        text: `${code}${error.message}`,
        fix: error.fix ?? 'look at DATABASE_URL in .env',
      },
    ];
  }
}

const SOCKETS = [
  '/var/run/docker.sock',
  '/run/podman/podman.sock',
  `${process.env['XDG_RUNTIME_DIR'] ?? '/run/user/0'}/podman/podman.sock`,
];

function checkEngine(
  { hosting }: Project,
  env: Readonly<Record<string, string | undefined>>,
): DoctorCheck[] {
  if (!hosting) return [];
  const named = hosting.engine.socket ?? env['DOCKER_HOST']?.replace(/^unix:\/\//, '');
  const found = [...(named ? [named] : SOCKETS)].find(
    (path) => existsSync(path) || /^tcp:/.test(path),
  );
  if (found) return [{ what: 'engine', ok: true, text: found }];
  return [
    {
      what: 'engine',
      ok: false,
      text: `no container engine at ${named ?? SOCKETS.join(' or ')}`,
      fix: 'start Docker, or: systemctl --user start podman.socket',
    },
  ];
}
