import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One repository of the test hub. */
export interface TestRepository {
  readonly files: Readonly<Record<string, Buffer>>;
  /** Files that are announced with the hash of something else. */
  readonly corrupt?: readonly string[];
}

/** How the hub behaves; a test may change it at any time. */
export interface HubBehaviour {
  /** After so many bytes of a file the connection is cut, once for each number. */
  cuts: number[];
  /** Bytes a second; 0 is as fast as it goes. */
  speed: number;
  /** Answers 200 with the whole file when a part is asked for. */
  ignoresRange: boolean;
  /** Answers 206 with another part than the one that was asked for. */
  wrongRange: boolean;
  /** Every answer has this status. */
  status: number | null;
  /** Sends for files to this other address. */
  filesAt: string | null;
}

export interface TestHub {
  readonly url: string;
  readonly behaviour: HubBehaviour;
  /** Every request: path, `Range` and `Authorization`. */
  readonly requests: {
    readonly path: string;
    readonly range: string | undefined;
    readonly authorization: string | undefined;
  }[];
  close(): Promise<void>;
}

const CHUNK = 16 * 1024;
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const blobId = (bytes: Buffer) =>
  createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');

/** A hub on loopback that speaks the part of the Hugging Face API that downloads need. */
export async function startHub(
  repositories: Readonly<Record<string, TestRepository>>,
): Promise<TestHub> {
  const behaviour: HubBehaviour = {
    cuts: [],
    speed: 0,
    ignoresRange: false,
    wrongRange: false,
    status: null,
    filesAt: null,
  };
  const requests: TestHub['requests'] = [];
  const server = createServer((request, response) => {
    const path = decodeURIComponent((request.url ?? '').split('?')[0] as string);
    requests.push({
      path,
      range: request.headers.range,
      authorization: request.headers.authorization,
    });
    if (behaviour.status !== null) return void response.writeHead(behaviour.status).end('{}');
    if (path.startsWith('/api/models/'))
      return describeRepository(repositories, path.slice('/api/models/'.length), response);
    void sendFile(repositories, behaviour, path, { request, response });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    behaviour,
    requests,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

const commitOf = (id: string) => createHash('sha1').update(id).digest('hex');

function describeRepository(
  repositories: Readonly<Record<string, TestRepository>>,
  path: string,
  response: ServerResponse,
): void {
  const id = path.split('/').slice(0, 2).join('/');
  const repository = repositories[id];
  if (!repository) return void response.writeHead(404).end('{"error":"Repository not found"}');
  const siblings = Object.entries(repository.files).map(([rfilename, bytes]) => {
    const told = repository.corrupt?.includes(rfilename) ? Buffer.from('something else') : bytes;
    const large = /\.(gguf|safetensors)$/.test(rfilename);
    return {
      rfilename,
      size: bytes.length,
      blobId: blobId(told),
      ...(large && { lfs: { sha256: sha256(told), size: bytes.length, pointerSize: 130 } }),
    };
  });
  response
    .writeHead(200, { 'Content-Type': 'application/json' })
    .end(JSON.stringify({ id, sha: commitOf(id), siblings }));
}

async function sendFile(
  repositories: Readonly<Record<string, TestRepository>>,
  behaviour: HubBehaviour,
  path: string,
  { request, response }: { request: IncomingMessage; response: ServerResponse },
): Promise<void> {
  const match = /^\/(?<id>[^/]+\/[^/]+)\/resolve\/(?<commit>[^/]+)\/(?<file>.+)$/.exec(
    path,
  )?.groups;
  const bytes =
    match && match['commit'] === commitOf(match['id'] as string)
      ? repositories[match['id'] as string]?.files[match['file'] as string]
      : undefined;
  if (!bytes) return void response.writeHead(404).end();
  if (behaviour.filesAt !== null)
    return void response.writeHead(302, { Location: behaviour.filesAt + path }).end();
  const asked = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
  if (asked >= bytes.length && asked > 0)
    return void response.writeHead(416, { 'Content-Range': `bytes */${bytes.length}` }).end();
  const from = behaviour.ignoresRange ? 0 : asked;
  const told = behaviour.wrongRange && from > 0 ? from - 1 : from;
  response.writeHead(from > 0 ? 206 : 200, {
    'Content-Length': bytes.length - from,
    ...(from > 0 && { 'Content-Range': `bytes ${told}-${bytes.length - 1}/${bytes.length}` }),
  });
  const cut = behaviour.cuts.find((offset) => offset > from);
  for (let at = from; at < bytes.length && !response.destroyed; at += CHUNK) {
    if (cut !== undefined && at + CHUNK > cut) {
      behaviour.cuts.splice(behaviour.cuts.indexOf(cut), 1);
      // What has been written reaches the client before the connection breaks.
      return void response.write(bytes.subarray(at, cut), () =>
        setTimeout(() => response.destroy(), 30),
      );
    }
    if (!response.write(bytes.subarray(at, at + CHUNK))) await drained(response);
    if (behaviour.speed > 0)
      await new Promise((resolve) => setTimeout(resolve, (CHUNK / behaviour.speed) * 1000));
  }
  response.end();
}

/** Waits until more can be written, or nobody listens any more. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      response.off('drain', go).off('close', go);
      resolve();
    };
    response.on('drain', go).on('close', go);
  });
}
