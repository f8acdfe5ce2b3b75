import { Agent, type Dispatcher, request } from 'undici';
import { AppError, failure } from '@twofold/runtime/errors';

/** One file of a repository. Large files have `sha256`, small ones `oid` (Git's own hash). */
export interface HubFile {
  readonly name: string;
  readonly size: number;
  readonly sha256?: string;
  readonly oid?: string;
}

export interface Repository {
  readonly commit: string;
  readonly files: readonly HubFile[];
}

/** The content of a file from `offset`, which is 0 if the hub sends more than was requested. */
export interface FileStream {
  readonly offset: number;
  readonly body: AsyncIterable<Buffer>;
}

/** The hub could not be reached or the connection broke. Another try may succeed. */
export class HubError extends Error {
  readonly code = 'HUB_UNREACHABLE';
}

interface HubOptions {
  /** `HF_ENDPOINT`. */
  readonly endpoint: URL;
  /** `HF_TOKEN`. It is sent to the endpoint's own origin only. */
  readonly token: string | undefined;
}

const MAX_REDIRECTS = 5;
const CONNECT_TIMEOUT = 10_000;
/** Milliseconds without data after which a connection counts as broken. */
const IDLE_TIMEOUT = 30_000;
const MAX_META_BYTES = 16 * 1024 * 1024;

/**
 * The hub from which models are downloaded: a client of the Hugging Face API. It never sends the
 * token to the origin of a redirect.
 */
export class Hub {
  readonly #options: HubOptions;
  readonly #base: string;
  #agent: Agent | undefined;

  constructor(options: HubOptions) {
    this.#options = options;
    this.#base = options.endpoint.href.replace(/\/+$/, '');
  }

  /** Reads the files of a repository at a branch, tag or commit, and the id of that commit. */
  async describe(
    id: string,
    revision: string | undefined,
    signal: AbortSignal,
  ): Promise<Repository> {
    const at = revision === undefined ? '' : `/revision/${encodeURIComponent(revision)}`;
    const answer = await this.#get(`${this.#base}/api/models/${id}${at}?blobs=true`, {}, signal);
    if (answer.statusCode !== 200) throw await refusalError(answer, id);
    return readRepository(await readJson(answer.body));
  }

  /** @throws HubError when another try may succeed, AppError when no try can. */
  async open(
    id: string,
    at: { readonly commit: string; readonly file: HubFile; readonly offset: number },
    signal: AbortSignal,
  ): Promise<FileStream> {
    const { commit, file, offset } = at;
    const path = file.name.split('/').map(encodeURIComponent).join('/');
    const range: Record<string, string> = offset > 0 ? { Range: `bytes=${offset}-` } : {};
    const answer = await this.#get(`${this.#base}/${id}/resolve/${commit}/${path}`, range, signal);
    const { statusCode: status, body } = answer;
    if (status === 200) return { offset: 0, body };
    if (status === 206 && offset > 0 && isRange(answer, offset, file.size)) return { offset, body };
    if (status !== 206 && status !== 416) throw await refusalError(answer, id);
    body.destroy();
    if (offset > 0) return this.open(id, { commit, file, offset: 0 }, signal);
    throw new HubError('the hub answered with another part of the file than it was asked for');
  }

  async close(): Promise<void> {
    await this.#agent?.destroy();
    this.#agent = undefined;
  }

  async #get(
    address: string,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    let url = new URL(address);
    for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
      const answer = await this.#ask(url, headers, signal);
      // An error of a body that nothing reads would have no listener and end the process. A reader
      // of the body still gets the error.
      answer.body.on('error', () => {});
      if (![301, 302, 303, 307, 308].includes(answer.statusCode)) return answer;
      answer.body.destroy();
      url = follow(url, String(answer.headers['location'] ?? ''));
    }
    throw new HubError(`${url.host} redirects without an end`);
  }

  async #ask(url: URL, headers: Record<string, string>, signal: AbortSignal) {
    const { token, endpoint } = this.#options;
    const isOwn = token !== undefined && url.origin === endpoint.origin;
    this.#agent ??= new Agent({
      connect: { timeout: CONNECT_TIMEOUT },
      headersTimeout: IDLE_TIMEOUT,
      bodyTimeout: IDLE_TIMEOUT,
      pipelining: 1,
    });
    return request(url, {
      dispatcher: this.#agent,
      signal,
      headers: {
        ...{ 'Accept-Encoding': 'identity', 'User-Agent': 'twofold', ...headers },
        ...(isOwn && { Authorization: `Bearer ${token}` }),
      },
    }).catch((cause: Error) => {
      signal.throwIfAborted();
      throw new HubError(`${url.host} does not answer: ${cause.message}`, { cause });
    });
  }
}

/** Resolves a redirect. A redirect from https to http is refused. */
function follow(from: URL, location: string): URL {
  const to = URL.canParse(location, from.href) ? new URL(location, from) : null;
  if (to && (to.protocol === 'https:' || (to.protocol === 'http:' && from.protocol === 'http:')))
    return to;
  throw new HubError(`${from.host} redirects to where nothing can be fetched from`);
}

/** `Content-Range: bytes 9-99/100` (RFC 9110 §14.4): exactly from `offset` to the end. */
function isRange({ headers }: Dispatcher.ResponseData, offset: number, size: number): boolean {
  return headers['content-range'] === `bytes ${offset}-${size - 1}/${size}`;
}

async function refusalError(
  { statusCode, body }: Dispatcher.ResponseData,
  id: string,
): Promise<Error> {
  body.destroy();
  if (statusCode === 404) return failure.notFound(`The hub has no ${id}`);
  if (statusCode === 401 || statusCode === 403)
    return new AppError(
      502,
      'HUB_REFUSED',
      `The hub gives ${id} only to those who may have it: set HF_TOKEN, and accept its licence there`,
    );
  return new HubError(`the hub answered with ${statusCode}`);
}

async function readJson(body: AsyncIterable<Buffer>): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      size += chunk.length;
      if (size > MAX_META_BYTES) throw new HubError('the hub says too much');
      chunks.push(chunk);
    }
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch (error) {
    throw error instanceof HubError
      ? error
      : new HubError('the answer of the hub does not describe a model', { cause: error });
  }
}

function readRepository(value: unknown): Repository {
  const { sha, siblings } = (value ?? {}) as { sha?: unknown; siblings?: unknown };
  if (typeof sha !== 'string' || !/^[0-9a-f]{7,64}$/.test(sha) || !Array.isArray(siblings))
    throw new HubError('the answer of the hub does not describe a model');
  return { commit: sha, files: siblings.flatMap(readFile) };
}

function readFile(value: unknown): HubFile[] {
  const { rfilename: name, size, blobId, ...rest } = value as Readonly<Record<string, unknown>>;
  const lfs = rest['lfs'] as { sha256?: unknown; size?: unknown } | null | undefined;
  const bytes = lfs?.size ?? size;
  if (
    typeof name !== 'string' ||
    !isSafe(name) ||
    !Number.isSafeInteger(bytes) ||
    Number(bytes) < 0
  )
    return [];
  const sha256 =
    typeof lfs?.sha256 === 'string' && /^[0-9a-f]{64}$/.test(lfs.sha256) ? lfs.sha256 : undefined;
  const oid = typeof blobId === 'string' && /^[0-9a-f]{40}$/.test(blobId) ? blobId : undefined;
  return [
    {
      name,
      size: Number(bytes),
      ...(sha256 !== undefined ? { sha256 } : oid !== undefined && { oid }),
    },
  ];
}

/** Whether the path stays inside the folder to which it is written, on every operating system. */
const isSafe = (name: string) =>
  /^[A-Za-z0-9_][A-Za-z0-9._ +()-]*(\/[A-Za-z0-9_][A-Za-z0-9._ +()-]*)*$/.test(name) &&
  name.length <= 200;
