import { closeSync, existsSync, openSync, readFileSync, readSync } from 'node:fs';

/** A file that the kernel makes as it is read, such as those of cgroups and of `/proc`. */
export interface KernelFile {
  /** What it says now. @throws when it is not there, or what it tells of has ended. */
  read(): string;
  close(): void;
}

/** Makes files of the kernel known; none is opened before it is read. */
export type KernelFiles = (path: string) => KernelFile;

interface Kept {
  fd: number;
  /** Since the last sweep. */
  used: boolean;
}

/**
 * Milliseconds that a file stays open without being read: an open one holds on to what a container
 * has left.
 */
const IDLE = 30_000;
const MOST = 5000;
const LIMITS = '/proc/self/limits';
/** The kernel gives lists out a page at a time: what is shorter than half of one is whole. */
const HALF_A_PAGE = 2048;

/**
 * Files that stay open between two readings: reading one again from its beginning takes a fifth of
 * opening it. No more than a quarter of what this process may open; the others are opened each
 * time.
 *
 * @example
 * const open = createKernelFiles();
 * const uptime = open('/proc/uptime');
 * uptime.read();
 */
export function createKernelFiles({
  most = aQuarter(),
  idle = IDLE,
}: { readonly most?: number; readonly idle?: number } = {}): KernelFiles {
  const kept = new Set<Kept>();
  let sweeping: NodeJS.Timeout | undefined;
  const close = (file: Kept) => {
    if (!kept.delete(file)) return;
    closeSync(file.fd);
    if (kept.size > 0) return;
    clearInterval(sweeping);
    sweeping = undefined;
  };
  const sweep = () => {
    for (const file of kept) {
      if (file.used) file.used = false;
      else close(file);
    }
  };
  const keep = (file: Kept, fd: number) => {
    file.fd = fd;
    kept.add(file);
    sweeping ??= setInterval(sweep, idle).unref();
  };
  const open = (path: string) => {
    try {
      return openSync(path, 'r');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EMFILE') throw error;
      // This process has none left: those that are only kept are given back.
      for (const file of kept) close(file);
      return openSync(path, 'r');
    }
  };
  return (path) => {
    const file: Kept = { fd: -1, used: false };
    return {
      read() {
        file.used = true;
        if (kept.has(file)) return readFrom(file.fd);
        const fd = open(path);
        if (kept.size < most) keep(file, fd);
        try {
          return readFrom(fd);
        } finally {
          if (!kept.has(file)) closeSync(fd);
        }
      },
      close: () => close(file),
    };
  };
}

let buffer = Buffer.allocUnsafe(16 * 1024);

/** They are made as they are read: the way through a thread would take longer than the reading. */
function readFrom(fd: number): string {
  let length = 0;
  for (;;) {
    if (length === buffer.length) buffer = Buffer.concat([buffer], 2 * length);
    const read = readSync(fd, buffer, length, buffer.length - length, length);
    length += read;
    if (read < HALF_A_PAGE) return buffer.toString('latin1', 0, length);
  }
}

/** Of the files that this process may have open. */
function aQuarter(): number {
  const limits = existsSync(LIMITS) ? readFileSync(LIMITS, 'latin1') : '';
  return Math.min(
    MOST,
    Math.floor(Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Infinity) / 4),
  );
}
