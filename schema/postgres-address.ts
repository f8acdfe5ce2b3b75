import { didYouMean } from './did-you-mean.ts';

const MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
export type SslMode = (typeof MODES)[number];

/** A server of an address; a host that begins with `/` is the folder of a Unix socket. */
export interface Place {
  readonly host: string;
  readonly port: number;
}

/** An address of PostgreSQL, in its parts. What it leaves out, the driver takes from `PG…`. */
export interface PostgresAddress {
  readonly places: readonly Place[];
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string | undefined;
  readonly mode: SslMode;
  /** The schema of all tables; undefined for that of the search path. */
  readonly schema: string | undefined;
  readonly parameters: Readonly<Record<string, string>>;
}

const words = (text: string): readonly string[] => text.split(' ');
const OURS = words('sslmode sslrootcert sslcert sslkey application_name connect_timeout schema');
/** Parameters that the driver takes. */
export const DRIVER_PARAMETERS = words(
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
 * @throws AddressError
 * @example parsePostgresAddress('postgres://app@db1:5432,db2:5432/shop?sslmode=require').places[1] // { host: 'db2', port: 5432 }
 */
export function parsePostgresAddress(url: string): PostgresAddress {
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
  };
}

/** An address that is none. Its message is without the address, which may have a password. */
export class AddressError extends Error {}

function wrong(problem: string): never {
  throw new AddressError(`DATABASE_URL ${problem}`);
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
export function oddParameters({ parameters }: PostgresAddress): string[] {
  const known = new Set([...OURS, ...DRIVER_PARAMETERS, ...LIBPQ]);
  return Object.keys(parameters)
    .filter((name) => !known.has(name))
    .map((name) => {
      const advice = didYouMean(name, OURS) ?? `known: ${OURS.join(', ')}`;
      return `DATABASE_URL has the parameter ${name}, which nothing knows. ${advice}`;
    });
}
