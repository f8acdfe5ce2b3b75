import { readFileSync } from 'node:fs';
import { type ConnectionOptions, getCACertificates } from 'node:tls';
import {
  AddressError,
  DRIVER_PARAMETERS,
  parsePostgresAddress,
  type PostgresAddress,
} from '@twofold/schema';
import { ConfigError } from '../../errors.ts';

/** What the settings say of an address beside its text. */
export interface Access {
  /** Certificates in PEM, as text or as the path of a file. */
  readonly ca?: string | undefined;
  readonly passwordCommand?: string | undefined;
}

/** Addresses are passed on as text, so what the settings add to one is kept by its text. */
const granted = new Map<string, Access>();

export const grantAccess = (url: string, access: Access): void => void granted.set(url, access);

type Reached = PostgresAddress & Access;

/** @throws ConfigError naming what is wrong. */
export function addressOf(url: string): Reached {
  try {
    return { ...parsePostgresAddress(url), ...granted.get(url) };
  } catch (error) {
    throw error instanceof AddressError ? new ConfigError([error.message]) : error;
  }
}

/** What the driver makes a connection with, but for the place and the encryption. */
export function driverOptions({ user, database, places, parameters }: Reached) {
  const seconds = Number(parameters['connect_timeout']);
  const passed = DRIVER_PARAMETERS.filter((name) => name in parameters).map((name) => [
    name,
    parameters[name],
  ]);
  return {
    ...(Object.fromEntries(passed) as Readonly<Record<string, string>>),
    user,
    database,
    // A host that answers nothing must leave time for the next one.
    connectionTimeoutMillis: seconds > 0 ? seconds * 1_000 : places.length > 1 ? 2_000 : 10_000,
  };
}

/**
 * How a connection is encrypted; false when it is not. As in libpq, `require` checks the certificate
 * only where a CA is given.
 */
export function encryptionOf(address: Reached): ConnectionOptions | false {
  const { mode, ca, parameters } = address;
  if (mode === 'disable') return false;
  const named = ca ?? parameters['sslrootcert'];
  const root = named === 'system' ? undefined : named;
  const isChecked = mode.startsWith('verify') || (mode === 'require' && root !== undefined);
  const { sslcert, sslkey, sslpassword } = parameters;
  return {
    rejectUnauthorized: isChecked,
    ...(isChecked && {
      ca: root === undefined ? systems() : pem(root, ca ? 'DATABASE_CA' : 'sslrootcert'),
    }),
    ...(isChecked && mode !== 'verify-full' && { checkServerIdentity: () => undefined }),
    ...(sslcert && { cert: pem(sslcert, 'sslcert') }),
    ...(sslkey && { key: pem(sslkey, 'sslkey') }),
    ...(sslpassword && { passphrase: sslpassword }),
  };
}

/** A container often has no certificates of its own, so those that Node brings count too. */
const systems = () => [...getCACertificates('default'), ...getCACertificates('system')];

function pem(text: string, name: string): string {
  if (text.includes('-----BEGIN')) return text.replaceAll('\\n', '\n');
  try {
    return readFileSync(text, 'utf8');
  } catch (error) {
    throw new ConfigError([
      `${name} names ${text}, which cannot be read (${(error as { code?: string }).code})`,
    ]);
  }
}
