import { providerSettings } from '@twofold/schema';
import { firstRole, hasOwner } from '../users/owners.ts';
import type { AuthState } from '../state.ts';
import { isUsable } from '../passkeys/relying-party.ts';
import { hostLink } from '../sign-in/host-login.ts';
import { issueSetupToken, setupLink } from './setup.ts';

/** The same parts with the server's real port: with `PORT=0` the system chooses it. */
export function atPort(auth: AuthState, port: number): AuthState {
  if (auth.settings.text('APP_URL') !== undefined) return auth;
  return { ...auth, config: { ...auth.config, appUrl: `http://localhost:${port}` } };
}

/** Logs insecure and missing settings at a start, and how to create the first administrator. */
export async function noteStart(auth: AuthState): Promise<void> {
  const { log, settings } = auth;
  if (auth.config.allowsWeakSecrets)
    log.warn(
      `AUTH_ALLOW_WEAK_SECRETS is in use${auth.config.weakSecrets.length > 0 ? `: ${auth.config.weakSecrets.join('; ')}` : ', and no secret is weak: take it away'}`,
    );
  await noteApplications(auth);
  if (!auth.config.users) return;
  if (settings.text('NODE_ENV') === undefined && settings.text('ENV') === undefined)
    log.warn(
      'NODE_ENV is not set, so this is development: ' +
        'links of mails and of the setup are in the log, and GraphQL may be introspected. ' +
        'On a server that others reach, set NODE_ENV=production',
    );
  if (auth.config.passkeys && !isUsable(auth.config.passkeys))
    log.warn(
      `APP_URL is ${auth.config.appUrl}: browsers make passkeys for names such as localhost only, not for IP addresses`,
    );
  if (auth.mails.mode === 'none')
    log.warn('SMTP_URL is not set: resetting a password and verifying an address answer 503');
  noteProviders(auth);
  await noteSetup(auth);
}

/** Names, in one line, the providers of the manifest that have no settings yet. */
function noteProviders(auth: AuthState): void {
  const off = auth.model.oauth.providers.filter(
    ({ name }) => !auth.config.providers.some((each) => each.name === name),
  );
  if (off.length === 0) return;
  const missing = off.flatMap(({ name, preset }) => providerSettings(name, preset)).join(', ');
  const names = off.map(({ name }) => name).join(', ');
  // A template lists providers for whom nobody has asked yet.
  auth.log[auth.settings.production ? 'warn' : 'info'](
    `Nobody signs in with ${names} until these are set: ${missing}`,
  );
}

/**
 * In development, logs a link with which the operator signs in to each application. Only one
 * process of a server logs it.
 */
async function noteApplications(auth: AuthState): Promise<void> {
  if (auth.applications.size === 0 || auth.settings.production || !(await isFirstProcess(auth)))
    return;
  for (const application of auth.applications.values())
    if (application.open && application.host)
      auth.log.info(`${application.title}: ${await hostLink(auth, application)}`);
}

/** Only one of the processes of a server logs it. */
async function noteSetup(auth: AuthState): Promise<void> {
  const role = firstRole(auth.model);
  if (role === null || (await hasOwner(auth, auth.db)) || !(await isFirstProcess(auth))) return;
  const ways = `POST ${auth.config.appUrl}/api/auth/setup {token, email, password}, or run "npm run admin -- create --email you@example.com"`;
  if (auth.settings.production)
    return auth.log.warn(
      `No user has the role ${role}. ` +
        `${auth.config.setupToken === null ? 'Set SETUP_TOKEN to 32 random characters or more' : 'With SETUP_TOKEN as the token'}: ` +
        `${ways}`,
    );
  const token = await issueSetupToken(auth);
  const link = setupLink(auth, token);
  auth.log.info(
    auth.model.pages === false
      ? `No user has the role ${role} yet. Within an hour: ${link} is for a page of yours that sends the token to ${ways}`
      : `No user has the role ${role} yet. Open ${link} within an hour, or ${ways}`,
  );
}

async function isFirstProcess(auth: AuthState): Promise<boolean> {
  if (auth.settings.text('WORKERS', '1') === '1') return true;
  const { default: cluster } = await import('node:cluster');
  return (cluster.worker?.id ?? 1) === 1;
}
