import { parseArgs } from 'node:util';
import { AppError, ConfigError } from '@twofold/runtime/errors';
import { type App, boot, type BootOptions, prepareDatabase } from '@twofold/runtime/kernel';
import type { AuthModule } from '../create-auth.ts';

/** The commands of `npm run admin`. */
const ADMIN_COMMANDS = ['create', 'grant', 'link'] as const;

/** A command of `npm run admin` with its options. */
export interface AdminRequest {
  readonly command: (typeof ADMIN_COMMANDS)[number];
  readonly email?: string;
  readonly role?: string;
}

/** The result of a command. `refused` holds the reason why the command changed nothing. */
export type AdminReport =
  | { readonly ok: true; readonly link?: string; readonly text: string }
  | { readonly ok: false; readonly refused: string };

/**
 * Creates the first administrator of a project, or another one, from the command line of its
 * server, and starts no server. Migrations are applied as at a start: in production only with
 * `MIGRATE=on`.
 *
 * @throws ConfigError for wrong settings or pending migrations.
 */
export async function adminApp(
  app: App,
  request: AdminRequest,
  options: BootOptions = {},
): Promise<AdminReport> {
  const env = { LOG_LEVEL: 'silent', ...(options.env ?? process.env) };
  const booted = await boot(app, { ...options, env });
  try {
    const auth = booted.modules.find(({ name }) => name === 'auth') as AuthModule | undefined;
    if (!auth || !app.project.auth)
      return { ok: false, refused: 'the manifest has no auth section, so there are no accounts' };
    await prepareDatabase(app, booted);
    return await auth.administer(request);
  } catch (error) {
    if (error instanceof AppError) return { ok: false, refused: error.message };
    throw error;
  } finally {
    await booted.kernel.store.close();
  }
}

const USAGE = `npm run admin -- create --email ada@example.com [--role Owner]
npm run admin -- grant --email ada@example.com --role Owner
npm run admin -- link
`;

/**
 * `npm run admin`: reads the command line, prints the result or with `--help` the usage, and ends the process with 0, with 2
 * when the arguments are wrong, or with 3 when the command is refused.
 *
 * @example await runAdmin(app);
 */
export async function runAdmin(app: App, words = process.argv.slice(2)): Promise<never> {
  if (words.includes('--help') || words.includes('-h')) {
    process.stdout.write(USAGE);
    return end(0, '');
  }
  const given = readWords(words);
  if (typeof given === 'string') return end(2, `${given}\n${USAGE}`);
  try {
    const report = await adminApp(app, given.request);
    if (given.json) process.stdout.write(`${JSON.stringify(report)}\n`);
    else if (report.ok) process.stdout.write(`${report.text}\n`);
    return end(report.ok ? 0 : 3, report.ok ? '' : `refused: ${report.refused}\n`);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return end(3, `refused:\n${error.problems.map((problem) => `  ${problem}\n`).join('')}`);
  }
}

function end(code: number, text: string): never {
  process.stderr.write(text);
  process.exit(code);
}

/** @returns the request, or a text that describes the wrong argument. */
function readWords(
  words: readonly string[],
): { readonly request: AdminRequest; readonly json: boolean } | string {
  try {
    const { values, positionals } = parseArgs({
      args: [...words],
      allowPositionals: true,
      options: {
        email: { type: 'string' },
        role: { type: 'string' },
        json: { type: 'boolean', default: false },
      },
    });
    const { json, email, role } = values;
    const [command, ...more] = positionals;
    const known = ADMIN_COMMANDS.find((each) => each === command);
    if (!known || more.length > 0) return `one of ${ADMIN_COMMANDS.join(', ')} is wanted`;
    if (known !== 'link' && !email) return `${known} needs --email`;
    if (known === 'grant' && !role) return 'grant needs --role';
    return { json, request: { command: known, ...(email && { email }), ...(role && { role }) } };
  } catch (error) {
    return (error as Error).message;
  }
}
