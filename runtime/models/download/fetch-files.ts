import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, rename, rm, truncate } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '@twofold/runtime/errors';
import { type Hub, HubError, type HubFile } from './hub.ts';
import type { Plan } from './plan.ts';
import { partOf, type ModelStore, sizeOf } from './model-store.ts';

export interface FetchOptions {
  readonly hub: Hub;
  readonly modelStore: ModelStore;
  readonly plan: Plan;
  readonly signal: AbortSignal;
  /** Called with the number of bytes of all files that have been downloaded. */
  readonly onProgress: (bytes: number) => void;
  /** Called every 64 MB. Throws when the disk has too little space for the rest. */
  readonly assertRoom: () => Promise<void>;
  /** Milliseconds to wait after the first broken connection. Doubled each time, up to a minute. */
  readonly pause: number;
}

/** A download fails after this many broken connections without a new byte. */
const MAX_ATTEMPTS = 8;
const MAX_PAUSE = 60_000;
const ROOM_CHECK_BYTES = 64 * 1024 * 1024;

/**
 * Fetches the missing files of a plan. It continues partial files of a broken connection or an
 * earlier process, and checks the hash of each file before it renames it to its final name.
 *
 * @throws AppError 502 on a wrong checksum or an unavailable hub, 507 on a full disk.
 */
export async function fetchFiles(options: FetchOptions): Promise<void> {
  const { modelStore, plan, onProgress } = options;
  let before = 0;
  for (const file of plan.files) {
    const path = join(modelStore.staging(plan.id), file.name);
    if ((await sizeOf(path)) !== file.size) await fetchFile(options, { file, path, before });
    before += file.size;
    onProgress(before);
  }
}

interface Target {
  readonly file: HubFile;
  readonly path: string;
  /** Total bytes of the files before this one. */
  readonly before: number;
}

async function fetchFile(options: FetchOptions, target: Target): Promise<void> {
  const part = partOf(target.path);
  await mkdir(dirname(part), { recursive: true });
  let failures = 0;
  for (;;) {
    const had = (await sizeOf(part)) ?? 0;
    const error = await attempt(options, target, part).then(
      () => null,
      (reason: unknown) => reason,
    );
    if (error === null) return finish(target, part);
    options.signal.throwIfAborted();
    if (!(error instanceof HubError)) throw toDiskError(error);
    failures = ((await sizeOf(part)) ?? 0) > had ? 1 : failures + 1;
    if (failures >= MAX_ATTEMPTS)
      throw new AppError(
        502,
        'HUB_UNREACHABLE',
        `The download was cut: ${error.message}. What came is kept: download it again to go on`,
        { cause: error },
      );
    await sleep(Math.min(options.pause * 2 ** (failures - 1), MAX_PAUSE), undefined, {
      signal: options.signal,
    });
  }
}

/** Makes one request, for the bytes from the end of the partial file to the end of the file. */
async function attempt(
  options: FetchOptions,
  { file, before }: Target,
  part: string,
): Promise<void> {
  const { hub, plan, signal, onProgress } = options;
  const kept = Math.min((await sizeOf(part)) ?? 0, file.size);
  const { offset, body } =
    kept === file.size
      ? { offset: kept, body: empty() }
      : await hub.open(plan.id, { commit: plan.commit, file, offset: kept }, signal);
  const handle = await open(part, 'a');
  try {
    await truncate(part, offset);
    let size = offset;
    await receive(body, options, async (chunk) => {
      if (size + chunk.length > file.size)
        throw new HubError(`the hub sends more of ${file.name} than it has`);
      await handle.appendFile(chunk);
      onProgress(before + (size += chunk.length));
    });
    if (size < file.size) throw new HubError(`the hub ended ${file.name} early`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await assertHash(file, part);
}

async function* empty(): AsyncGenerator<Buffer> {}

async function receive(
  body: AsyncIterable<Buffer>,
  { assertRoom, plan, signal }: FetchOptions,
  write: (chunk: Buffer) => Promise<void>,
): Promise<void> {
  let unchecked = 0;
  const chunks = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { value, done } = await chunks.next().catch((error: unknown) => {
        throw signal.aborted
          ? signal.reason
          : new HubError((error as Error).message, { cause: error });
      });
      if (done) return;
      await write(value);
      unchecked += value.length;
      if (unchecked < Math.min(ROOM_CHECK_BYTES, plan.size / 8)) continue;
      await assertRoom();
      unchecked = 0;
    }
  } finally {
    await chunks.return?.();
  }
}

/** Reads the file from the disk, so that exactly the bytes are checked which will be loaded. */
async function assertHash(file: HubFile, part: string): Promise<void> {
  const hash = file.sha256 !== undefined ? createHash('sha256') : gitHash(file.size);
  for await (const chunk of createReadStream(part, { highWaterMark: 1024 * 1024 }))
    hash.update(chunk as Buffer);
  if (hash.digest('hex') === (file.sha256 ?? file.oid)) return;
  await rm(part, { force: true });
  throw new AppError(
    502,
    'CHECKSUM_WRONG',
    `The checksum of ${file.name} is wrong: what came is not what the hub says it has. ` +
      'Nothing of it was kept: download it again',
  );
}

/** The hash that Git uses as the name of a blob, over a header and the content. */
const gitHash = (size: number): Hash => createHash('sha1').update(`blob ${size}\0`);

async function finish({ path }: Target, part: string): Promise<void> {
  await rename(part, path);
  const folder: FileHandle = await open(dirname(path), 'r');
  await folder
    .sync()
    .catch(() => {})
    .finally(() => folder.close());
}

/** Replaces the error of a full disk by an `AppError`. Returns other errors unchanged. */
function toDiskError(error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new AppError(507, 'DISK_FULL', 'The disk is full: the download was removed', {
      cause: error,
    });
  return error;
}
