import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { failure } from '@twofold/runtime/errors';

/**
 * An app's name, which is also a label in a host name, a network alias and a part of container
 * names.
 */
export const APP_NAME = '^[a-z][a-z0-9-]{0,62}$';
export const ENV_KEY = '^[A-Za-z_][A-Za-z0-9_]{0,127}$';
export const VOLUME_NAME = '^[a-z0-9][a-z0-9_.-]{0,62}$';

/** Names that the server may use itself, or that mean this machine. */
const RESERVED = new Set([
  'admin',
  'api',
  'auth',
  'dashboard',
  'host',
  'ingress',
  'localhost',
  'twofold',
  'www',
]);

/** @throws AppError 400 when an app must not have this name. */
export function assertAppName(name: string): void {
  if (!new RegExp(APP_NAME).test(name)) {
    throw failure.badRequest(
      'name must begin with a lower-case letter and hold at most 63 lower-case letters, digits and hyphens',
    );
  }
  if (RESERVED.has(name)) throw failure.badRequest(`name ${name} is reserved: choose another one`);
}

const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;

/**
 * Returns a domain in the form in which it is stored: lower case, no dot at the end, international
 * names in ASCII (UTS 46). `*.` may stand for one label.
 *
 * @throws AppError 400
 * @example parseDomain('Shop.Example.COM.') // 'shop.example.com'
 */
export function parseDomain(text: string): string {
  const wild = text.startsWith('*.');
  // These characters end a host name in a URL, so `domainToASCII` would drop everything after them.
  const ascii = /[\s/\\?#@:%[\]]/.test(text)
    ? ''
    : domainToASCII((wild ? text.slice(2) : text).replace(/\.$/, ''));
  const labels = ascii.split('.');
  const valid =
    ascii.length > 0 &&
    ascii.length <= 251 &&
    isIP(ascii) === 0 &&
    !/^[\d.]+$/.test(ascii) &&
    labels.every((label) => LABEL.test(label));
  if (!valid || (wild && labels.length < 2))
    throw failure.badRequest(`${JSON.stringify(text.slice(0, 100))} is not a domain name`);
  return wild ? `*.${ascii}` : ascii;
}

/** A host in lower case, with an optional port: a registry, or a git host. */
export const HOST_WITH_PORT = /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::\d{1,5})?$/;

/**
 * The grammar of an image reference: registry host with port, path, and tag or digest, without user
 * names and schemes.
 */
const IMAGE =
  /^(?:[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?(?::\d{1,5})?\/)?[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*)*(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@sha256:[a-f0-9]{64})?$/;

/** @throws AppError 400 when it is not an image reference. */
export function assertImage(reference: string): void {
  if (reference.length > 400 || !IMAGE.test(reference))
    throw failure.badRequest(
      'image is not a valid image reference, such as docker.io/library/nginx:1.27',
    );
}

/** @throws AppError 400 when a process cannot receive this key or value. */
export function assertEnv(env: Readonly<Record<string, string>>): void {
  for (const [key, value] of Object.entries(env)) {
    if (!new RegExp(ENV_KEY).test(key))
      throw failure.badRequest(
        `env key ${JSON.stringify(key.slice(0, 100))} must consist of letters, digits and _, and not begin with a digit`,
      );
    if (value.includes('\0')) throw failure.badRequest(`env.${key} must not contain a NUL byte`);
  }
}

/** Turns the values of an environment into text. @throws AppError 400 */
export function toEnv(
  env: Readonly<Record<string, string | number | boolean>>,
): Readonly<Record<string, string>> {
  const texts = Object.fromEntries(Object.entries(env).map(([key, value]) => [key, String(value)]));
  assertEnv(texts);
  return texts;
}

/** @throws AppError 400 */
export function assertProjectName(name: string): void {
  if (new RegExp(APP_NAME).test(name)) return;
  throw failure.badRequest(
    'project must begin with a lower-case letter and hold at most 63 lower-case letters, digits and hyphens',
  );
}

/**
 * The names by which other apps of its project reach an app: `shop-db` in the project `shop` is
 * `db` too.
 */
export function namesOf(
  name: string,
  { project }: { readonly project?: string | null },
): readonly string[] {
  const prefix = `${project}-`;
  const short = project && name.startsWith(prefix) ? name.slice(prefix.length) : '';
  return short === '' ? [name] : [name, short];
}
