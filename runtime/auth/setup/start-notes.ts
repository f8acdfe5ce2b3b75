import { providerSettings } from '@twofold/schema';
import { firstRole, hasOwner } from '../users/owners.ts';
import type { AuthParts } from '../parts.ts';
import { isUsable } from '../passkeys/relying-party.ts';
import { hostLink } from './host-link.ts';
import { issueSetupToken, setupLink } from './setup.ts';

/** The same parts with the server's real port: with `PORT=0` the system chooses it. */
export function atPort(parts: AuthParts, port: number): AuthParts {
  if (parts.kernel.settings.text('APP_URL') !== undefined) return parts;
  return { ...parts, config: { ...parts.config, appUrl: `http://localhost:${port}` } };
}

/** Logs insecure and missing settings at a start, and how to create the first administrator. */
export async function noteStart(parts: AuthParts): Promise<void> {
  const { kernel, config, mailer } = parts;
  const { log, settings } = kernel;
  if (config.allowsWeakSecrets)
    log.warn(
      `AUTH_ALLOW_WEAK_SECRETS is in use${config.weakSecrets.length > 0 ? `: ${config.weakSecrets.join('; ')}` : ', and no secret is weak: take it away'}`,
    );
  await noteApplications(parts);
  if (!parts.users) return;
  if (settings.text('NODE_ENV') === undefined && settings.text('ENV') === undefined)
    log.warn(
      'NODE_ENV is not set, so this is development: ' +
        'links of mails and of the setup are in the log, and GraphQL may be introspected. ' +
        'On a server that others reach, set NODE_ENV=production',
    );
  if (config.passkeys && !isUsable(config.passkeys))
    log.warn(
      `APP_URL is ${config.appUrl}: browsers make passkeys for names such as localhost only, not for IP addresses`,
    );
  if (mailer.mode === 'none')
    log.warn('SMTP_URL is not set: resetting a password and verifying an address answer 503');
  noteProviders(parts);
  await noteSetup(parts);
}

/** Names, in one line, the providers of the manifest that have no settings yet. */
function noteProviders({ kernel: { log, settings }, config, model }: AuthParts): void {
  const off = model.oauth.providers.filter(
    ({ name }) => !config.providers.some((each) => each.name === name),
  );
  if (off.length === 0) return;
  const missing = off.flatMap(({ name, preset }) => providerSettings(name, preset)).join(', ');
  const names = off.map(({ name }) => name).join(', ');
  // A template lists providers for whom nobody has asked yet.
  log[settings.production ? 'warn' : 'info'](
    `Nobody signs in with ${names} until these are set: ${missing}`,
  );
}

/**
 * In development, logs a link with which the operator signs in to each application. Only one
 * process of a server logs it.
 */
async function noteApplications(parts: AuthParts): Promise<void> {
  const { kernel, applications } = parts;
  if (applications.size === 0 || kernel.settings.production || !(await isFirstProcess(parts)))
    return;
  for (const application of applications.values())
    if (application.open && application.host)
      kernel.log.info(`${application.title}: ${await hostLink(parts, application)}`);
}

/** Only one of the processes of a server logs it. */
async function noteSetup(parts: AuthParts): Promise<void> {
  const { kernel, config, model } = parts;
  const role = firstRole(model);
  if (role === null || (await hasOwner(parts, kernel.store.db)) || !(await isFirstProcess(parts)))
    return;
  const ways = `POST ${config.appUrl}/api/auth/setup {token, email, password}, or run "npm run admin -- create --email you@example.com"`;
  if (kernel.settings.production)
    return kernel.log.warn(
      `No user has the role ${role}. ` +
        `${config.setupToken === null ? 'Set SETUP_TOKEN to 32 random characters or more' : 'With SETUP_TOKEN as the token'}: ` +
        `${ways}`,
    );
  const token = await issueSetupToken(parts);
  const link = setupLink(parts, token);
  kernel.log.info(
    model.pages === false
      ? `No user has the role ${role} yet. Within an hour: ${link} is for a page of yours that sends the token to ${ways}`
      : `No user has the role ${role} yet. Open ${link} within an hour, or ${ways}`,
  );
}

async function isFirstProcess({ kernel }: AuthParts): Promise<boolean> {
  if (kernel.settings.text('WORKERS', '1') === '1') return true;
  const { default: cluster } = await import('node:cluster');
  return (cluster.worker?.id ?? 1) === 1;
}
