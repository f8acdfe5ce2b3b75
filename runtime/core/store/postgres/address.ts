import { readFileSync } from 'node:fs';
import { type ConnectionOptions, getCACertificates } from 'node:tls';
import { didYouMean } from '@twofold/schema';
import { ConfigError } from '../../errors.ts';

const MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
export type SslMode = (typeof MODES)[number];

/** What the settings say of an address beside its text. */
export interface Access {
  /** Certificates in PEM, as text or as the path of a file. */
  readonly ca?: string | undefined;
  readonly passwordCommand?: string | undefined;
}

/** A server of an address; a host that begins with `/` is the folder of a Unix socket. */
export interface Place {
  readonly host: string;
  readonly port: number;
}

/** An address of PostgreSQL, in its parts. What it leaves out, the driver takes from `PG…`. */
export interface PostgresAddress extends Access {
  readonly places: readonly Place[];
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string | undefined;
  readonly mode: SslMode;
  /** The schema of all tables; undefined for that of the search path. */
  readonly schema: string | undefined;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Addresses are passed on as text, so what the settings add to one is kept by its text. */
const granted = new Map<string, Access>();

export const grantAccess = (url: string, access: Access): void => void granted.set(url, access);

const words = (text: string): readonly string[] => text.split(' ');
const OURS = words('sslmode sslrootcert sslcert sslkey application_name connect_timeout schema');
/** Parameters that the driver takes. */
const DRIVERS = words(
  'options statement_timeout lock_timeout idle_in_transaction_session_timeout client_encoding application_name sslnegotiation',
);
/** Further ones of libpq, most of which have no effect here. */
const LIBPQ = words(
  'host hostaddr port user password dbname ssl passfile channel_binding fallback_application_name keepalives keepalives_idle keepalives_interval keepalives_count tcp_user_timeout replication gssencmode gssdelegation krbsrvname gsslib service sslcompression sslpassword sslcertmode sslcrl sslcrldir sslsni requirepeer require_auth ssl_min_protocol_version ssl_max_protocol_version target_session_attrs load_balance_hosts',
);

const URI = /^postgres(?:ql)?:\/\/(?:([^/?#]*)@)?([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/;
const PLACE = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/;

/**
 * Reads an address as libpq does: with several hosts, and with its parameters.
 *
 * @throws ConfigError naming what is wrong, without the address, which may have a password.
 * @example addressOf('postgres://app@db1:5432,db2:5432/shop?sslmode=require').places[1] // { host: 'db2', port: 5432 }
 */
export function addressOf(url: string): PostgresAddress {
  const [, userinfo = '', hosts = '', path = '', query = ''] =
    URI.exec(url) ?? wrong('must be postgres://user:password@host/database');
  const parameters = Object.fromEntries(new URLSearchParams(query));
  const [user, ...password] = userinfo.split(':');
  return {
    places: placesOf(
      hosts || (parameters['host'] ?? ''),
      hosts && /:\d+$/.test(hosts) ? '' : (parameters['port'] ?? ''),
    ),
    user: decoded(user) || parameters['user'],
    password: decoded(password.join(':')) || parameters['password'],
    database: decoded(path) || parameters['dbname'],
    mode: modeOf(parameters),
    schema: parameters['schema'] || undefined,
    parameters,
    ...granted.get(url),
  };
}

function wrong(problem: string): never {
  throw new ConfigError([`DATABASE_URL ${problem}`]);
}

/** A percent sign that begins no code is itself. */
function decoded(text = ''): string | undefined {
  try {
    return decodeURIComponent(text) || undefined;
  } catch {
    return text;
  }
}

function placesOf(hosts: string, ports: string): Place[] {
  const others = ports.split(',');
  return hosts.split(',').map((text, at) => {
    const [, host = '', own] = PLACE.exec(text) ?? wrong(`has no host and port in ${text}`);
    const port = own || others[at] || others[0] || process.env['PGPORT'];
    return {
      host: decoded(host.replace(/^\[(.*)\]$/, '$1')) ?? process.env['PGHOST'] ?? 'localhost',
      port: Number(port ?? 5432),
    };
  });
}

function modeOf({ sslmode, ssl, sslrootcert }: PostgresAddress['parameters']): SslMode {
  if (sslmode === undefined && ssl !== undefined)
    return /^(0|false)$/.test(ssl) ? 'disable' : 'require';
  if (sslmode === undefined) return sslrootcert === 'system' ? 'verify-full' : 'prefer';
  const known = { allow: 'prefer', 'no-verify': 'require' }[sslmode] ?? sslmode;
  return (
    MODES.find((mode) => mode === known) ??
    wrong(`has sslmode=${sslmode}, which must be one of ${MODES.join(', ')}`)
  );
}

/** What of an address has no effect, a line each. */
export function oddities({ parameters }: PostgresAddress): string[] {
  const known = new Set([...OURS, ...DRIVERS, ...LIBPQ]);
  return Object.keys(parameters)
    .filter((name) => !known.has(name))
    .map((name) => {
      const advice = didYouMean(name, OURS) ?? `known: ${OURS.join(', ')}`;
      return `DATABASE_URL has the parameter ${name}, which nothing knows. ${advice}`;
    });
}

/** What the driver makes a connection with, but for the place and the encryption. */
export function driverOptions({ user, database, places, parameters }: PostgresAddress) {
  const seconds = Number(parameters['connect_timeout']);
  const passed = DRIVERS.filter((name) => name in parameters).map((name) => [
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
export function encryptionOf(address: PostgresAddress): ConnectionOptions | false {
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
