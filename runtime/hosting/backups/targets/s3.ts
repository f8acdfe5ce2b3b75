import { setTimeout as sleep } from 'node:timers/promises';
import { pieces } from '../../archives/chunks.ts';
import { targetFailed } from '../failures.ts';
import {
  ATTEMPTS,
  callS3,
  isPassing,
  openS3,
  type S3Options,
  type S3Refusal,
  textOf,
  textsOf,
} from './s3-request.ts';
import type { Begun, Target } from './target.ts';

export type { S3Options };

const MIB = 1024 * 1024;
/** Above this size an object is uploaded in parts. */
const SINGLE = 64 * MIB;
/** S3 takes at most 10,000 parts, so later parts are larger: 264 GB in all. */
const PART = 8 * MIB;
const LATER_PART = 32 * MIB;
const SMALL_PARTS = 2000;

/** A bucket of S3, or of a server that speaks its protocol. */
export function createS3Target(options: S3Options): Target {
  const folder = (options.prefix ?? '').replace(/^\/+|\/+$/g, '');
  const keyOf = (name: string) => (folder ? `${folder}/${name}` : name);
  return {
    put: (name, chunks, begun) => put(options, keyOf(name), chunks, begun),
    async discard(name, attempt) {
      if (attempt !== null) await abort(options, keyOf(name), attempt);
    },
    get: (name) => get(options, keyOf(name)),
    remove: async (name) => void (await callS3(options, { method: 'DELETE', key: keyOf(name) })),
    async list(prefix) {
      const names = await list(options, keyOf(prefix));
      return names.map((key) => (folder ? key.slice(folder.length + 1) : key));
    },
  };
}

async function put(
  options: S3Options,
  key: string,
  chunks: AsyncIterable<Buffer>,
  begun: Begun = async () => {},
): Promise<void> {
  const sizeOf = (part: number) => (part < SMALL_PARTS ? PART : LATER_PART);
  const parts = pieces(chunks, sizeOf);
  const held: Buffer[] = [];
  let size = 0;
  // Not `for await`, which would close the stream before the parts are uploaded.
  for (let next = await parts.next(); !next.done; next = await parts.next()) {
    held.push(next.value);
    size += next.value.length;
    if (size > SINGLE) return putParts(options, key, { held, parts, begun });
  }
  await callS3(options, { method: 'PUT', key, body: held });
}

interface Parts {
  /** The parts that were read already. */
  readonly held: Buffer[];
  readonly parts: AsyncIterator<Buffer>;
  readonly begun: Begun;
}

/** The object exists only when the upload is completed, and all of its parts are there. */
async function putParts(
  options: S3Options,
  key: string,
  { held, parts, begun }: Parts,
): Promise<void> {
  const { text } = await callS3(options, { method: 'POST', key, query: { uploads: '' } });
  const uploadId = textOf(text, 'UploadId');
  if (!uploadId) throw targetFailed(`${options.endpoint} does not take uploads in parts`);
  try {
    await begun(uploadId);
    const tags: string[] = [];
    for (let part = await nextPart(held, parts); part; part = await nextPart(held, parts)) {
      const query = { partNumber: String(tags.length + 1), uploadId };
      const { headers } = await callS3(options, { method: 'PUT', key, query, body: [part] });
      tags.push(headers.etag ?? '');
    }
    const body = [Buffer.from(completion(tags))];
    await callS3(options, { method: 'POST', key, query: { uploadId }, body });
  } catch (error) {
    await parts.return?.(undefined);
    // The server removes the parts sooner or later, and the error of the upload says more.
    await abort(options, key, uploadId).catch(() => {});
    throw error;
  }
}

async function nextPart(held: Buffer[], parts: AsyncIterator<Buffer>): Promise<Buffer | undefined> {
  const first = held.shift();
  return first ?? ((await parts.next()).value as Buffer | undefined);
}

function completion(tags: readonly string[]): string {
  const parts = tags.map(
    (tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${tag}</ETag></Part>`,
  );
  return `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;
}

async function abort(options: S3Options, key: string, uploadId: string): Promise<void> {
  await callS3(options, { method: 'DELETE', key, query: { uploadId } }).catch((error: Error) => {
    if ((error.cause as S3Refusal | undefined)?.status !== 404) throw error;
  });
}

/** Reads an object. A connection that breaks is continued where it broke. */
async function* get(options: S3Options, key: string): AsyncGenerator<Buffer> {
  let at = 0;
  let tag = '';
  for (let failures = 0; ;) {
    const headers = at > 0 ? { range: `bytes=${at}-`, 'if-match': tag } : {};
    try {
      const answer = await openS3(options, { method: 'GET', key, headers });
      if (at > 0 && answer.statusCode !== 206) throw new Error('it does not continue downloads');
      tag = answer.headers.etag ?? '';
      for await (const chunk of answer) {
        failures = 0;
        at += (chunk as Buffer).length;
        yield chunk as Buffer;
      }
      return;
    } catch (error) {
      const refusal = error as S3Refusal;
      if (!isPassing(refusal) || (failures += 1) >= ATTEMPTS)
        throw targetFailed(`${options.endpoint} does not return ${key}: ${refusal.message}`, error);
      await sleep(200 * 2 ** failures);
    }
  }
}

async function list(options: S3Options, prefix: string): Promise<string[]> {
  const found: string[] = [];
  let next: string | null = null;
  do {
    const query: Record<string, string> = {
      'list-type': '2',
      prefix,
      ...(next !== null && { 'continuation-token': next }),
    };
    const { text } = await callS3(options, { method: 'GET', key: '', query });
    found.push(...textsOf(text, 'Key'));
    next = textOf(text, 'NextContinuationToken');
  } while (next !== null);
  return found;
}
