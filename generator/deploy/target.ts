import { askSecret } from '../cli/ask.ts';
import type { CommandCall } from '../cli/command.ts';
import { CommandError } from '../failure.ts';
import type { GivenEnvironment } from './app-settings.ts';
import { createHostingServer, type HostingServer } from './hosting-server.ts';

/**
 * The server to deploy to, with the session open.
 *
 * @throws CommandError when no server is named, it does not answer, or it refuses the credentials.
 */
export async function openServer(
  { options, terminal }: CommandCall,
  here: GivenEnvironment,
): Promise<HostingServer> {
  const url = addressOf(text(options['to']) ?? here['DEPLOY_URL']);
  if (url.startsWith('http:') && !/^http:\/\/(localhost|127\.|\[::1\])/.test(url))
    terminal.note(
      `${terminal.paint.yellow('warning')}  ${url} is not encrypted: anyone on the way can read the token`,
    );
  const server = createHostingServer(url, null);
  await server.assertReady();
  const token = text(options['token']) ?? here['DEPLOY_TOKEN'];
  if (token !== undefined && token !== '') return createHostingServer(url, token);
  const password =
    here['DEPLOY_PASSWORD'] ??
    (terminal.interactive && !terminal.json ? await askSecret(`Password of ${url}: `) : undefined);
  if (password !== undefined && password !== '')
    return createHostingServer(url, await server.signIn(password));
  throw new CommandError('NOT_SIGNED_IN', {
    message: `not signed in at ${url}`,
    fix: 'DEPLOY_TOKEN (a token or an API key) or DEPLOY_PASSWORD in the environment or in .env, or --token TOKEN',
  });
}

/** Without a scheme, `host.example.com` gets https and this machine http. */
function addressOf(given: string | undefined): string {
  if (given === undefined || given.trim() === '')
    throw new CommandError('NO_TARGET', {
      message: 'deploy where?',
      fix: '--to URL of a hosting server, or DEPLOY_URL in the environment or in .env',
    });
  const full = /^[a-z][a-z0-9+.-]*:\/\//i.test(given)
    ? given
    : `${/^(localhost|127\.|\[::1\])/.test(given) ? 'http' : 'https'}://${given}`;
  const url = URL.canParse(full) ? new URL(full) : null;
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '')
    throw new CommandError('TARGET_INVALID', {
      message: `${JSON.stringify(given)} is not the address of a server`,
      fix: '--to https://host.example.com',
    });
  return url.origin + url.pathname.replace(/\/+$/, '');
}

function text(option: unknown): string | undefined {
  return typeof option === 'string' ? option : undefined;
}
