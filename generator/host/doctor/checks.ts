/** What the doctor has seen of a host, as data. */
export interface HostState {
  /** Null when no engine answers. */
  readonly engine: { readonly version: string; readonly liveRestore: boolean | null } | null;
  /** Null when the server does not answer. */
  readonly ingress: string | null;
  /** Names that clients use, with the addresses that they lead to. */
  readonly names: readonly { readonly name: string; readonly addresses: readonly string[] }[];
  /** Days that the certificate of a name is still valid; null: there is none. */
  readonly certificates: readonly { readonly name: string; readonly days: number | null }[];
  readonly disk: { readonly free: number; readonly size: number };
  readonly memory: { readonly free: number; readonly size: number };
  /** Whether the clock is set by the network; null when nothing says so. */
  readonly clock: boolean | null;
  /** `active` and `enabled`, or what they are instead. */
  readonly units: readonly { readonly unit: string; readonly state: string }[];
  /** Apps that have missed two times of their schedule since their last good backup. Null: not known. */
  readonly lateBackups: readonly string[] | null;
  readonly trustedProxies: readonly string[];
  /** `HOSTING_REDIRECT=off` says that a proxy in front ends TLS. */
  readonly behindProxy: boolean;
  /** The folder of the data. */
  readonly data: string;
}

export interface HostCheck {
  readonly id: string;
  readonly ok: boolean;
  readonly message: string;
  /** The line that mends it; null when there is nothing to mend. */
  readonly fix: string | null;
}

const GIB = 2 ** 30;
/** Certificates are renewed 30 days before their end, so something is wrong below this. */
const FEWEST_DAYS = 14;

/**
 * Judges a host.
 *
 * @example checkHost(state).filter(({ ok }) => !ok).map(({ fix }) => fix)
 */
export function checkHost(state: HostState): HostCheck[] {
  return CHECKS.map(([id, judge]) => {
    const { message, fix } = judge(state);
    return { id, ok: fix === null, message, fix };
  });
}

type Judge = (state: HostState) => Pick<HostCheck, 'message' | 'fix'>;

const good = (message: string) => ({ message, fix: null });

const CHECKS: readonly (readonly [id: string, judge: Judge])[] = [
  ['units', checkUnits],
  ['engine', checkEngine],
  ['live-restore', checkLiveRestore],
  ['ports', checkPorts],
  ['dns', checkNames],
  ['certificates', checkCertificates],
  ['disk', checkDisk],
  ['memory', checkMemory],
  ['clock', checkClock],
  ['backups', checkBackups],
  ['trusted_proxies', checkProxies],
];

function checkUnits({ units }: HostState) {
  const wrong = units.filter(({ state }) => state !== 'active enabled');
  if (wrong.length === 0) return good('both services run and start with the machine');
  const message = wrong.map(({ unit, state }) => `${unit}: ${state}`).join('; ');
  const missing = wrong.some(({ state }) => /not-found/.test(state));
  const names = wrong.map(({ unit }) => unit).join(' ');
  return { message, fix: missing ? 'generator host install' : `systemctl enable --now ${names}` };
}

function checkEngine({ engine }: HostState) {
  if (engine) return good(engine.version);
  return { message: 'no container engine answers', fix: 'systemctl start docker' };
}

function checkLiveRestore({ engine }: HostState) {
  if (!engine) return { message: 'not known: no engine answers', fix: 'systemctl start docker' };
  if (engine.liveRestore !== false) return good('apps run on while the engine restarts');
  return {
    message: 'every app stops when the engine is restarted or upgraded',
    fix: `add "live-restore": true to /etc/docker/daemon.json, then: systemctl reload docker`,
  };
}

function checkPorts({ ingress }: HostState) {
  if (ingress === 'listening') return good('the ingress listens');
  if (ingress === null)
    return {
      message: 'the server does not answer',
      fix: 'journalctl --unit twofold --lines 30',
    };
  return {
    message: 'the ingress has not got its ports: another program may have them',
    fix: "ss -ltnp '( sport = :80 or sport = :443 )'",
  };
}

function checkNames({ names }: HostState) {
  const lost = names.filter(({ addresses }) => addresses.length === 0).map(({ name }) => name);
  if (lost.length > 0)
    return {
      message: `no address is known for ${lost.join(', ')}`,
      fix: `add A or AAAA records for ${lost.join(', ')} with the address of this machine`,
    };
  const known = names.map(({ name, addresses }) => `${name} (${addresses.join(', ')})`);
  return good(known.length === 0 ? 'no name is used' : known.join(', '));
}

function checkCertificates({ certificates }: HostState) {
  const wrong = certificates.filter(({ days }) => days === null || days < FEWEST_DAYS);
  if (wrong.length === 0)
    return good(`${certificates.length} names have a certificate that stays valid`);
  const message = wrong
    .map(({ name, days }) => `${name}: ${days === null ? 'none' : `ends in ${days} days`}`)
    .join('; ');
  return {
    message,
    fix: 'generator host install --email you@example.com, and let port 80 through; journalctl --unit twofold --grep certificate',
  };
}

function checkDisk({ disk: { free, size }, data }: HostState) {
  const message = `${gib(free)} of ${gib(size)} are free at ${data}`;
  if (free >= 2 * GIB && free >= size * 0.05) return good(message);
  return { message, fix: 'docker system prune --all, or a larger disk' };
}

function checkMemory({ memory: { free, size } }: HostState) {
  const message = `${gib(free)} of ${gib(size)} are free`;
  if (free >= GIB / 4) return good(message);
  return {
    message,
    fix: 'docker stats --no-stream shows who uses it; lower limits, or add memory',
  };
}

function checkClock({ clock }: HostState) {
  if (clock === true) return good('it is set by the network');
  if (clock === null) return good('not known: timedatectl does not answer');
  return {
    message: 'it is not set by the network; certificates, sessions and schedules need it',
    fix: 'timedatectl set-ntp true',
  };
}

function checkBackups({ lateBackups: late }: HostState) {
  if (late === null)
    return {
      message: 'not known: the server did not answer its operator',
      fix: 'systemctl start twofold',
    };
  if (late.length === 0) return good('none is older than its schedule');
  return {
    message: `older than their schedule: ${late.join(', ')}`,
    fix: `GET /api/apps/${late[0]}/backups says why the last one failed`,
  };
}

function checkProxies({ trustedProxies, behindProxy }: HostState) {
  const everyone = trustedProxies.filter((range) => /^(0\.0\.0\.0|::)\/0$/.test(range));
  if (everyone.length > 0)
    return {
      message: `${everyone.join(', ')}: whoever connects can say that it is another address`,
      fix: 'server.trusted_proxies in manifest.yaml: only the addresses of the proxy',
    };
  if (behindProxy && trustedProxies.length === 0)
    return {
      message: 'HOSTING_REDIRECT=off, but no proxy is trusted: every client has its address',
      fix: 'server.trusted_proxies in manifest.yaml: [the address of the proxy]',
    };
  return good(
    trustedProxies.length === 0 ? 'none: nothing is in front' : trustedProxies.join(', '),
  );
}

const gib = (bytes: number): string => `${(bytes / GIB).toFixed(1)} GiB`;
