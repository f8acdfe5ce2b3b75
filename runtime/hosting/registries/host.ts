import { failure } from '@twofold/runtime/errors';
import { HOST_WITH_PORT } from '../records/names.ts';

/** The registry of images whose name contains none. */
export const DOCKER_HUB = 'docker.io';

/** Names under which Docker's own registry is known in image names and in Docker's settings. */
const HUB_NAMES = new Set(['docker.io', 'index.docker.io', 'registry-1.docker.io']);

/**
 * The registry from which an image is pulled, with its port: the name under which its user is kept.
 *
 * @example
 * registryHostOf('localhost:5000/shop:1') // 'localhost:5000'
 * registryHostOf('library/node')          // 'docker.io'
 */
export function registryHostOf(reference: string): string {
  const [first = '', ...rest] = reference.split('/');
  const named = rest.length > 0 && /[.:]|^localhost$/i.test(first);
  return named ? canonicalHost(first) : DOCKER_HUB;
}

/** The one spelling of a host: lower case, and one name for Docker's own registry. */
export function canonicalHost(host: string): string {
  const lower = host.toLowerCase();
  return HUB_NAMES.has(lower) ? DOCKER_HUB : lower;
}

/**
 * Reads the host of a registry from a path.
 *
 * @throws AppError 400 when it is no host that an image's name could begin with.
 */
export function parseRegistryHost(text: string): string {
  const host = canonicalHost(text);
  const valid = host.length <= 255 && HOST_WITH_PORT.test(host) && /[.:]|^localhost$/.test(host);
  if (valid) return host;
  throw failure.badRequest(
    'The registry must be a host with an optional port, such as registry.example.com:5000',
  );
}
