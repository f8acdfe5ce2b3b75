import { ConfigError } from '@twofold/runtime/errors';
import { type App, type BootOptions, prepareDatabase, withBooted } from '@twofold/runtime/kernel';
import type { AuthModule } from '../create-auth.ts';
import type { EntryLink } from '../sign-in/host-login.ts';

/** The application for which a link is made. */
export interface LinkRequest {
  /** Its name in requests: `console`. */
  readonly client: string;
}

/** The link, or why there is none. */
export type LinkReport = EntryLink | { readonly ok: false; readonly reason: 'memory' };

/**
 * Makes a link that signs the operator in to an application of the server, once, within ten
 * minutes. It starts no server, and the server may run meanwhile.
 *
 * @throws ConfigError for wrong settings, or a database that cannot be used.
 */
export async function linkApp(
  app: App,
  { client }: LinkRequest,
  options: BootOptions = {},
): Promise<LinkReport> {
  const env = { LOG_LEVEL: 'silent', ...(options.env ?? process.env) };
  return withBooted(app, { ...options, env }, async (booted) => {
    if (booted.kernel.settings.text('DATABASE_URL') === ':memory:')
      return { ok: false, reason: 'memory' };
    const auth = booted.modules.find(({ name }) => name === 'auth') as AuthModule | undefined;
    if (!auth) return { ok: false, reason: 'absent' };
    return await madeBy(auth, client, () => prepareDatabase(app, booted));
  });
}

/** The database is prepared only when it has no tables yet, because a running server may use it. */
async function madeBy(
  auth: AuthModule,
  client: string,
  prepare: () => Promise<void>,
): Promise<LinkReport> {
  try {
    return await auth.linkTo(client);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    await prepare();
    return auth.linkTo(client);
  }
}
