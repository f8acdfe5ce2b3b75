import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { ACCESS_FILE, ACCESS_FILES, type AccessEntry } from './access-log.ts';

/** Which requests to return. */
export interface AccessQuery {
  readonly app: string;
  /** A status, or a class of them as `5xx`. */
  readonly status: string | undefined;
  /** Milliseconds since 1970. */
  readonly since: number | undefined;
  readonly limit: number;
}

export interface AccessPage {
  /** Newest first. */
  readonly requests: readonly AccessEntry[];
  /** How many there are in all that match. */
  readonly total: number;
}

const PIECE = 1024 * 1024;

/**
 * Reads the access log from its end. Only lines that contain the app's name are parsed, so that the
 * log of a whole host is read at the speed of the disk.
 */
export async function readAccessLog(directory: string, query: AccessQuery): Promise<AccessPage> {
  const requests: AccessEntry[] = [];
  let total = 0;
  const mark = Buffer.from(`"app":${JSON.stringify(query.app)},`);
  for (let number = 0; number < ACCESS_FILES; number += 1) {
    const name = number === 0 ? ACCESS_FILE : `${ACCESS_FILE}.${number}`;
    for await (const lines of piecesBackwards(join(directory, name))) {
      const found = entriesOf(lines, mark).filter((entry) => matches(entry, query));
      total += found.length;
      if (requests.length < query.limit)
        requests.push(...found.toReversed().slice(0, query.limit - requests.length));
      if (isBefore(lines, query.since)) return { requests, total };
    }
  }
  return { requests, total };
}

/** Whole lines in pieces of about a megabyte, the last ones first. */
async function* piecesBackwards(path: string): AsyncGenerator<Buffer> {
  const file = await open(path, 'r').catch(() => null);
  if (!file) return;
  try {
    let end = (await file.stat()).size;
    let rest: Buffer = Buffer.alloc(0);
    while (end > 0) {
      const start = Math.max(0, end - PIECE);
      const piece = Buffer.alloc(end - start);
      await file.read(piece, 0, piece.length, start);
      const all = Buffer.concat([piece, rest]);
      // The first line may begin in the piece before.
      const first = start === 0 ? 0 : all.indexOf(10) + 1;
      yield all.subarray(first);
      rest = all.subarray(0, first);
      end = start;
    }
  } finally {
    await file.close();
  }
}

function entriesOf(lines: Buffer, mark: Buffer): AccessEntry[] {
  const entries: AccessEntry[] = [];
  for (let at = lines.indexOf(mark); at >= 0; at = lines.indexOf(mark, at)) {
    const start = lines.lastIndexOf(10, at) + 1;
    const stop = lines.indexOf(10, at);
    const end = stop < 0 ? lines.length : stop;
    const entry = parse(lines.toString('utf8', start, end));
    if (entry) entries.push(entry);
    at = end;
  }
  return entries;
}

/** A line of a process that was killed may be incomplete. */
function parse(line: string): AccessEntry | null {
  try {
    return JSON.parse(line) as AccessEntry;
  } catch {
    return null;
  }
}

/** A path or a user agent may contain the mark too, so the parsed name decides. */
function matches(entry: AccessEntry, { app, status, since }: AccessQuery): boolean {
  if (entry.app !== app || (since !== undefined && Date.parse(entry.at) < since)) return false;
  if (status === undefined) return true;
  return status.endsWith('xx')
    ? Math.floor(entry.status / 100) === Number(status[0])
    : entry.status === Number(status);
}

/** Milliseconds by which lines may be out of order, as they are written when requests end. */
const DISORDER = 5000;

/** Whether all earlier lines are too old. */
function isBefore(lines: Buffer, since: number | undefined): boolean {
  if (since === undefined) return false;
  const stop = lines.indexOf(10);
  const first = parse(lines.toString('utf8', 0, stop < 0 ? lines.length : stop));
  return first !== null && Date.parse(first.at) < since - DISORDER;
}
