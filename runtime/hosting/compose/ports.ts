import { type Entry, isMapping, itemsOf, membersOf, type Problems } from './problems.ts';
import { textOf } from './values.ts';

/** A published port, and whether our ingress may speak HTTP to it. */
interface Published {
  readonly entry: Entry;
  readonly target: number;
  readonly published: number | null;
  readonly protocol: 'tcp' | 'udp';
  readonly http: boolean;
}

/**
 * The first TCP port is the app's HTTP port, which answers at the app's domain and not at the
 * published number. Null means a worker.
 */
export function portOf(entry: Entry | undefined, problems: Problems): number | null {
  const all = entry ? itemsOf(entry).flatMap((item) => readPort(item, problems) ?? []) : [];
  const first = all.find(({ http }) => http);
  for (const { entry: other } of all.filter((each) => each !== first))
    problems.add(other.path, 'is not supported: one TCP port of a service is passed on, as HTTP');
  return first?.target ?? null;
}

const SHORT = /^(?:(?:(?:\d+\.){3}\d+|\[[\da-f:]+\]):)?(?:(\d{1,5}):)?(\d{1,5})(?:\/(tcp|udp))?$/i;
const LONG = ['target', 'published', 'protocol', 'app_protocol', 'mode', 'host_ip', 'name'];

function readPort(entry: Entry, problems: Problems): Published | undefined {
  if (isMapping(entry.value)) return readLong(entry, problems);
  const text = textOf(entry, problems);
  const match = text === undefined ? null : SHORT.exec(text);
  if (!match) {
    if (text !== undefined) problems.add(entry.path, 'must be a port such as 8080:80 or 53:53/udp');
    return undefined;
  }
  const [, published, target, protocol = 'tcp'] = match;
  return check(
    {
      ...{ entry, target: Number(target), http: protocol.toLowerCase() === 'tcp' },
      published: published === undefined ? null : Number(published),
      protocol: protocol.toLowerCase() as 'tcp' | 'udp',
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
      ...{ entry, protocol, target: Number(text('target') ?? 0) },
      http: protocol === 'tcp' && application !== 'tcp',
      published: published === undefined ? null : Number(published),
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
