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
/** Characters that wait for a disk that is slow or full. Further entries are dropped. */
const MAX_WAITING = 8 * 1024 * 1024;
const MAX_BATCH = 256 * 1024;

/**
 * A log in files of limited size: `requests.log` is written, `requests.log.1` to `.6` are older.
 * Lines are appended in large pieces, so that the processes of a takeover can both write.
 *
 * @param limit Bytes of one file.
 */
export function createAccessLog(directory: string, limit = MAX_FILE): AccessLog {
  const path = join(directory, ACCESS_FILE);
  let waiting = '';
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  let made: Promise<unknown> | undefined;

  const append = async (text: string) => {
    await (made ??= mkdir(directory, { recursive: true, mode: 0o700 }));
    const size = await stat(path).then(
      (found) => found.size,
      () => 0,
    );
    if (size > 0 && size + text.length > limit) await rotate(path);
    await appendFile(path, text, { mode: 0o600 });
  };
  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const text = waiting;
    waiting = '';
    // A disk that cannot be written must not end the ingress: the entries are lost.
    if (text !== '')
      writing = writing.then(() => append(text)).catch(() => void (made = undefined));
    return writing;
  };
  return {
    write(entry) {
      if (waiting.length > MAX_WAITING) return;
      waiting += `${JSON.stringify(entry)}\n`;
      if (waiting.length > MAX_BATCH) void flush();
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
