import { appendFile, mkdir, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** One request, as a line of the access log shows it. It has no query, cookie or credential. */
export interface AccessEntry {
  readonly at: string;
  readonly request_id: string;
  /** Null for a host that no app has, and for the server's own. */
  readonly app: string | null;
  readonly ip: string;
  readonly method: string;
  readonly host: string;
  readonly path: string;
  readonly status: number;
  /** Bytes of the response body. */
  readonly bytes: number;
  readonly ms: number;
  /** The container that answered; null for a response of the ingress itself. */
  readonly target: string | null;
  readonly user_agent: string | null;
}

export interface AccessLog {
  write(entry: AccessEntry): void;
  /** Resolves when all entries are in the file. */
  flush(): Promise<void>;
}

export const ACCESS_FILE = 'requests.log';
/** Files that are kept, with the one that is written. */
export const ACCESS_FILES = 7;
const MAX_FILE = 64 * 1024 * 1024;
/** Milliseconds between two writes. */
const INTERVAL = 500;
const MAX_BATCH = 512 * 1024;
/** Batches that wait for a disk that is slow or full. Further entries are dropped. */
const MAX_WAITING = 16;
const LINE_END = 10;
/** More bytes than a line has: its texts are cut, and JSON makes each at most six times as long. */
const MAX_LINE = 64 * 1024;

/**
 * A log in files of limited size: `requests.log` is written, `requests.log.1` to `.6` are older.
 * Lines are appended in large pieces, so that the processes of a takeover can both write. A process
 * that is killed loses the lines of the last half second.
 *
 * @param limit Bytes of one file.
 */
export function createAccessLog(directory: string, limit = MAX_FILE): AccessLog {
  const path = join(directory, ACCESS_FILE);
  // Lines wait as bytes outside the heap. Strings would be copied by the garbage collector.
  let batch = Buffer.allocUnsafeSlow(MAX_BATCH);
  let used = 0;
  /** Batches that are not in the file yet. */
  let waiting = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  let made: Promise<unknown> | undefined;

  const append = async (lines: Buffer) => {
    await (made ??= mkdir(directory, { recursive: true, mode: 0o700 }));
    const size = await stat(path).then(
      (found) => found.size,
      () => 0,
    );
    if (size > 0 && size + lines.length > limit) await rotate(path);
    await appendFile(path, lines, { mode: 0o600 });
  };
  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    if (used === 0) return writing;
    const lines = batch.subarray(0, used);
    waiting += 1;
    batch = Buffer.allocUnsafeSlow(MAX_BATCH);
    used = 0;
    // A disk that cannot be written must not end the ingress: the entries are lost.
    writing = writing
      .then(() => append(lines))
      .catch(() => void (made = undefined))
      .finally(() => (waiting -= 1));
    return writing;
  };
  return {
    write(entry) {
      if (waiting >= MAX_WAITING) return;
      used += batch.write(JSON.stringify(entry), used);
      batch[used++] = LINE_END;
      if (used > MAX_BATCH - MAX_LINE) void flush();
      else timer ??= setTimeout(() => void flush(), INTERVAL).unref();
    },
    flush,
  };
}

async function rotate(path: string): Promise<void> {
  for (let number = ACCESS_FILES - 1; number > 0; number -= 1)
    await rename(number === 1 ? path : `${path}.${number - 1}`, `${path}.${number}`).catch(
      () => {},
    );
}
