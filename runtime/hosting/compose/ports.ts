import type { AppPort } from '../records/ports.ts';
import { type Entry, isMapping, itemsOf, membersOf, type Problems } from './problems.ts';
import { textOf } from './values.ts';

/** A published port, and whether our ingress may speak HTTP to it. */
interface Published {
  readonly entry: Entry;
  readonly target: number;
  readonly published: number | null;
  readonly protocol: 'tcp' | 'udp';
  readonly http: boolean;
  /** The address of the host that it is for; undefined means all. */
  readonly address: string | undefined;
}

/** The ports of a service as the fields of its app. */
export interface ServicePorts {
  /** The HTTP port. Null means a worker. */
  readonly port: number | null;
  readonly ports: readonly AppPort[];
}

/**
 * The first TCP port is the app's HTTP port, which answers at the app's domain and not at the
 * published number. The others are ports of the host.
 */
export function portsOf(entry: Entry | undefined, problems: Problems): ServicePorts {
  const all = entry ? itemsOf(entry).flatMap((item) => readPort(item, problems) ?? []) : [];
  const first = all.find(({ http }) => http);
  const others = all.filter((each) => each !== first);
  return {
    port: first?.target ?? null,
    ports: others.flatMap((each) => hostPort(each, problems) ?? []),
  };
}

const LOOPBACK = /^(127\.|::1$)/;
const ANY = new Set(['0.0.0.0', '::']);

/** A port of the host is passed on by the ingress, which listens on every address. */
function hostPort(given: Published, problems: Problems): AppPort | undefined {
  const { entry, published, target, protocol, address } = given;
  if (published === null) {
    problems.add(entry.path, `names no port of the host: write ${target}:${target}/${protocol}`);
    return undefined;
  }
  const isLocal = address !== undefined && LOOPBACK.test(address);
  if (address !== undefined && !isLocal && !ANY.has(address))
    problems.add(entry.path, `cannot be for the address ${address} alone`);
  return { port: published, target, protocol, ...(isLocal && { allow: ['127.0.0.0/8', '::1'] }) };
}

const SHORT = /^(?:((?:\d+\.){3}\d+|\[[\da-f:]+\]):)?(?:(\d{1,5}):)?(\d{1,5})(?:\/(tcp|udp))?$/i;
const LONG = ['target', 'published', 'protocol', 'app_protocol', 'mode', 'host_ip', 'name'];

function readPort(entry: Entry, problems: Problems): Published | undefined {
  if (isMapping(entry.value)) return readLong(entry, problems);
  const text = textOf(entry, problems);
  const match = text === undefined ? null : SHORT.exec(text);
  if (!match) {
    if (text !== undefined) problems.add(entry.path, 'must be a port such as 8080:80 or 53:53/udp');
    return undefined;
  }
  const [, address, published, target, protocol = 'tcp'] = match;
  return check(
    {
      entry,
      target: Number(target),
      http: protocol.toLowerCase() === 'tcp',
      published: published === undefined ? null : Number(published),
      protocol: protocol.toLowerCase() as 'tcp' | 'udp',
      address: address?.replace(/[[\]]/g, ''),
    },
    problems,
  );
}

function readLong(entry: Entry, problems: Problems): Published | undefined {
  const members = membersOf(entry, problems, LONG);
  const text = (key: string) => {
    const member = members.get(key);
    return member && textOf(member, problems);
  };
  const protocol = text('protocol') ?? 'tcp';
  if (protocol !== 'tcp' && protocol !== 'udp') {
    problems.add(`${entry.path}.protocol`, 'must be tcp or udp');
    return undefined;
  }
  const application = text('app_protocol');
  const published = text('published');
  return check(
    {
      entry,
      protocol,
      target: Number(text('target') ?? 0),
      http: protocol === 'tcp' && application !== 'tcp',
      published: published === undefined ? null : Number(published),
      address: text('host_ip'),
    },
    problems,
  );
}

function check(port: Published, problems: Problems): Published | undefined {
  const isPort = (number: number) => Number.isInteger(number) && number > 0 && number < 65_536;
  if (isPort(port.target) && (port.published === null || isPort(port.published))) return port;
  problems.add(port.entry.path, 'must name ports from 1 to 65535');
  return undefined;
}
