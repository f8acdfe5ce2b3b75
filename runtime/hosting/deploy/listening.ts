import { readFileSync } from 'node:fs';

/** An address at which a process of a container listens. */
interface Listener {
  readonly port: number;
  /** Whether only the container itself reaches it. */
  readonly isLoopback: boolean;
}

/**
 * Says where a container listens that does not answer at its port. Empty when it listens there, and
 * for a container of another machine.
 *
 * @param pid of its first process.
 */
export function describeListening(pid: number, port: number | null): string {
  const found = port === null || pid === 0 ? null : listenersOf(pid);
  if (!found) return '';
  const at = found.filter((listener) => listener.port === port);
  if (at.some(({ isLoopback }) => !isLoopback)) return '';
  if (at.length > 0)
    return `. It listens on 127.0.0.1:${port}, which only itself reaches: let it listen on 0.0.0.0`;
  const others = [...new Set(found.map((listener) => listener.port))].join(', ');
  return others === ''
    ? '. It listens on no port'
    : `. It listens on port ${others}: set the app's port, or let it listen on PORT, which is ${port}`;
}

/** The state of a socket that listens, in the kernel's list. */
const LISTENS = '0A';
/** 127.0.0.11, where Docker answers the container's questions about names. */
const NAMES = '0B00007F';

/** Null when the kernel does not show them. */
function listenersOf(pid: number): Listener[] | null {
  try {
    return ['tcp', 'tcp6'].flatMap((kind) =>
      readFileSync(`/proc/${pid}/net/${kind}`, 'latin1')
        .split('\n')
        .map((line) => line.trim().split(/\s+/))
        .filter(([, local, , state]) => state === LISTENS && !local?.startsWith(NAMES))
        .map(([, local = '']) => toListener(local)),
    );
  } catch {
    return null;
  }
}

/** @param local As `0100007F:1F90`: each four bytes of the address are reversed. */
function toListener(local: string): Listener {
  const [address = '', port = ''] = local.split(':');
  const isLoopback = address.slice(-2) === '7F' || /^0{24}01000000$/.test(address);
  return { port: Number.parseInt(port, 16), isLoopback };
}
