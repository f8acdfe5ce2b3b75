import { AppError } from '@twofold/runtime/errors';
import type { EngineError } from '../engine/errors.ts';
import type { RegistryLogin } from '../engine/images.ts';
import { DOCKER_HUB, registryHostOf } from './host.ts';

/**
 * Whether a pull failed because a registry wants a user, or another one. Docker's own registry says
 * the same of an image that it does not know, which may be a local one.
 */
export function wantsLogin(
  { kind }: EngineError,
  reference: string,
  login: RegistryLogin | undefined,
): boolean {
  return kind === 'denied' && (login !== undefined || registryHostOf(reference) !== DOCKER_HUB);
}

/**
 * The error of an image whose registry wants a user, or another one. It names the registry and the
 * call that sets its user.
 */
export function registryRefused(
  reference: string,
  login: RegistryLogin | undefined,
  cause: EngineError,
  what: 'pulled' | 'pushed' = 'pulled',
): AppError {
  const host = registryHostOf(reference);
  const whom = login ? `the user ${login.username || '(a token)'}` : 'callers without a user';
  const fix = login
    ? `check it with POST /api/registries/${host}/check, or set another with PUT /api/registries/${host}`
    : `set one with PUT /api/registries/${host}`;
  return new AppError(
    422,
    'REGISTRY_REFUSED',
    `Image ${reference} cannot be ${what}: the registry ${host} refuses ${whom}: ${fix} (${withoutLogin(cause.message, login)})`,
    { cause },
  );
}

/** A registry writes its own messages, and could repeat what it was sent. */
export function withoutLogin(message: string, login: RegistryLogin | undefined): string {
  if (!login) return message;
  const { username, password, identityToken = '' } = login;
  const basic = Buffer.from(`${username}:${password}`).toString('base64');
  return [basic, password, identityToken]
    .filter((secret) => secret !== '')
    .reduce((text, secret) => text.replaceAll(secret, '***'), message);
}
