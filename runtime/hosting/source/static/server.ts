// A separate program that is copied into the image of a static site, so it must not import other
// files. It uses `node:http` directly, because no maintained library names a file by its content,
// and with times alone a browser may keep an old file.
import { createHash } from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { extname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/**
 * The response for a path without a file. `files`: 404. `pages`: the site's 404.html, else its
 * index.html. `app`: index.html, because the app renders the page in the browser.
 */
type Mode = 'files' | 'pages' | 'app';

interface OpenFile {
  readonly handle: FileHandle;
  readonly path: string;
  readonly size: number;
  readonly etag: string;
  /** Null when the file has no real time: tools for reproducible builds write 1970. */
  readonly modified: string | null;
}

const [root = '/www', mode = 'files'] = process.argv.slice(2) as [string?, Mode?];
const port = Number(process.env['PORT'] ?? 8080);

/** Hashes of the content, kept until a file changes. */
const hashes = new Map<string, { readonly version: string; readonly etag: Promise<string> }>();
const MAX_HASHES = 50_000;

const TEXT = 'charset=utf-8';
const TYPES: Readonly<Record<string, string>> = {
  '.avif': 'image/avif',
  '.css': `text/css; ${TEXT}`,
  '.csv': `text/csv; ${TEXT}`,
  '.gif': 'image/gif',
  '.gz': 'application/gzip',
  '.htm': `text/html; ${TEXT}`,
  '.html': `text/html; ${TEXT}`,
  '.ico': 'image/x-icon',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.js': `text/javascript; ${TEXT}`,
  '.json': 'application/json',
  '.map': 'application/json',
  '.md': `text/markdown; ${TEXT}`,
  '.mjs': `text/javascript; ${TEXT}`,
  '.mp3': 'audio/mpeg',
  '.mp4': 'video/mp4',
  '.ogg': 'audio/ogg',
  '.otf': 'font/otf',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.svg': `image/svg+xml; ${TEXT}`,
  '.ttf': 'font/ttf',
  '.txt': `text/plain; ${TEXT}`,
  '.wasm': 'application/wasm',
  '.wav': 'audio/wav',
  '.webm': 'video/webm',
  '.webmanifest': 'application/manifest+json',
  '.webp': 'image/webp',
  '.woff': 'font/woff',
  '.woff2': 'font/woff2',
  '.xml': `text/xml; ${TEXT}`,
  '.zip': 'application/zip',
};

const server = createServer((request, response) => {
  answer(request, response).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') console.error(request.url, error.message);
    if (response.headersSent) return void response.destroy();
    for (const name of response.getHeaderNames()) response.removeHeader(name);
    fail(response, 500);
  });
});
// Longer than proxies keep an idle connection, so that no request arrives on a connection that we
// are closing.
server.keepAliveTimeout = 75_000;
server.listen(port, () => console.log(`Serving ${root} on port ${port}`));
for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.on(signal, () => server.close(() => process.exit(0)));

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD');
    return fail(response, 405);
  }
  const [address = '/', query] = (request.url ?? '/').split(/\?(.*)/s);
  const path = toPath(address);
  if (path === null) return fail(response, 400);
  const file = isHidden(path) ? null : await find(path);
  if (file === 'folder') return redirect(response, `${path}/`, query);
  if (file) return serve(request, response, file);
  return answerMiss(request, response);
}

/** The decoded path, with repeated slashes reduced to one. Null for an invalid path. */
function toPath(address: string): string | null {
  try {
    const path = decodeURIComponent(address).replace(/\/{2,}/g, '/');
    const isPlain = path.startsWith('/') && !path.includes('\0') && !path.includes('\\');
    return isPlain && !path.split('/').includes('..') ? path : null;
  } catch {
    return null;
  }
}

/** Whether a name has a leading dot. `.well-known` is an exception (RFC 8615). */
const isHidden = (path: string) => /\/\.(?!well-known(\/|$))/.test(path);

/** `/a/` means its index.html. `/a` means a file, else `a.html`, else the folder. */
async function find(path: string): Promise<OpenFile | 'folder' | null> {
  if (path.endsWith('/')) return openFile(`${path}index.html`);
  const found = (await openFile(path)) ?? (await openFile(`${path}.html`));
  if (found) return found;
  const index = await openFile(`${path}/index.html`);
  await index?.handle.close();
  return index && 'folder';
}

/** Codes of a failed `open` that are answered as if there were no such file. */
const ABSENT = ['ENOENT', 'ENOTDIR', 'EISDIR', 'ENAMETOOLONG', 'ELOOP', 'EACCES'];

async function openFile(path: string): Promise<OpenFile | null> {
  const handle = await open(join(root, path)).catch((error: NodeJS.ErrnoException) => {
    if (ABSENT.includes(error.code ?? '')) return null;
    throw error;
  });
  if (!handle) return null;
  try {
    const stat = await handle.stat({ bigint: true });
    if (stat.isFile()) {
      const version = [stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join();
      const etag = await etagOf(handle, path, version);
      const modified = toHttpDate(Number(stat.mtimeMs));
      return { handle, path, size: Number(stat.size), etag, modified };
    }
  } catch (error) {
    await handle.close();
    throw error;
  }
  await handle.close();
  return null;
}

function etagOf(handle: FileHandle, path: string, version: string): Promise<string> {
  const kept = hashes.get(path);
  if (kept?.version === version) return kept.etag;
  const etag = hashOf(handle);
  etag.catch(() => hashes.delete(path));
  if (hashes.size >= MAX_HASHES) hashes.clear();
  hashes.set(path, { version, etag });
  return etag;
}

async function hashOf(handle: FileHandle): Promise<string> {
  const hash = createHash('sha256');
  const chunk = Buffer.alloc(64 * 1024);
  for (let at = 0; ;) {
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, at);
    if (bytesRead === 0) return `"${hash.digest('base64url')}"`;
    hash.update(chunk.subarray(0, bytesRead));
    at += bytesRead;
  }
}

const DAY = 24 * 3600 * 1000;

/** A server must not send a time of the future (RFC 9110, 8.8.2.1). */
function toHttpDate(time: number): string | null {
  return time < DAY ? null : new Date(Math.min(time, Date.now())).toUTCString();
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  file: OpenFile,
): Promise<void> {
  try {
    setHeaders(response, file);
    const status = precondition(request, file);
    if (status !== 200) return void response.writeHead(status).end();
    const range = rangeOf(request, file);
    if (range === 'unsatisfiable') {
      response.writeHead(416, { 'content-range': `bytes */${file.size}` }).end();
      return;
    }
    await send(request, response, { file, range });
  } finally {
    await file.handle.close();
  }
}

function setHeaders(response: ServerResponse, { path, etag, modified }: OpenFile): void {
  response.setHeader('etag', etag);
  if (modified) response.setHeader('last-modified', modified);
  response.setHeader('accept-ranges', 'bytes');
  response.setHeader('cache-control', cacheControlOf(path));
  response.setHeader('x-content-type-options', 'nosniff');
}

/**
 * Checks the conditions in the order of RFC 9110, 13.2.2. If there is a condition on a tag, the one
 * on a time is ignored.
 */
function precondition({ headers }: IncomingMessage, { etag, modified }: OpenFile): number {
  const match = headers['if-match'];
  const unmodified = headers['if-unmodified-since'];
  if (match !== undefined) {
    if (!tagsOf(match).some((tag) => tag === '*' || tag === etag)) return 412;
  } else if (unmodified !== undefined && modified && Date.parse(unmodified) < Date.parse(modified))
    return 412;
  const noneMatch = headers['if-none-match'];
  if (noneMatch !== undefined)
    // A proxy that compresses the file makes the tag weak.
    return tagsOf(noneMatch).some((tag) => tag === '*' || tag.replace(/^W\//, '') === etag)
      ? 304
      : 200;
  // Only an equal time counts: after a rollback the file is older than the browser's copy.
  return modified && headers['if-modified-since'] === modified ? 304 : 200;
}

const tagsOf = (header: string): string[] => header.match(/(?:W\/)?"[^"]*"|\*/g) ?? [];

type Range = { readonly start: number; readonly end: number };

/**
 * Reads a single range. Several ranges or an unknown unit are answered with the whole file. `end`
 * is inclusive.
 */
function rangeOf(
  { method, headers }: IncomingMessage,
  { size, etag, modified }: OpenFile,
): Range | 'unsatisfiable' | null {
  const condition = headers['if-range'];
  const isCurrent = condition === undefined || condition === etag || condition === modified;
  const match = /^bytes=(\d*)-(\d*)$/i.exec(headers.range ?? '');
  if (method !== 'GET' || !isCurrent || !match) return null;
  const [, first = '', last = ''] = match;
  if (first === '' && last === '') return null;
  if (first !== '' && last !== '' && Number(last) < Number(first)) return null;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  return start > end ? 'unsatisfiable' : { start, end };
}

interface Sent {
  readonly file: OpenFile;
  readonly range?: Range | null;
  readonly status?: number;
}

async function send(
  request: IncomingMessage,
  response: ServerResponse,
  { file, range = null, status = 200 }: Sent,
): Promise<void> {
  const { start, end } = range ?? { start: 0, end: file.size - 1 };
  response.setHeader('content-type', TYPES[extname(file.path)] ?? 'application/octet-stream');
  response.setHeader('content-length', end - start + 1);
  if (range) response.setHeader('content-range', `bytes ${start}-${end}/${file.size}`);
  response.writeHead(range ? 206 : status);
  if (request.method === 'HEAD' || file.size === 0) return void response.end();
  await pipeline(file.handle.createReadStream({ start, end, autoClose: false }), response);
}

/**
 * In the mode `app`, index.html answers only navigations: a missing script or image must not become
 * an HTML page.
 */
async function answerMiss(request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.setHeader('vary', 'Accept, Sec-Fetch-Mode');
  const missing = mode === 'app' && isNavigation(request) ? null : await openFile('/404.html');
  if (!missing && mode !== 'files' && isNavigation(request)) {
    const index = await openFile('/index.html');
    if (index) return serve(request, response, index);
  }
  if (!missing) return fail(response, 404);
  try {
    response.setHeader('cache-control', 'no-cache');
    await send(request, response, { file: missing, status: 404 });
  } finally {
    await missing.handle.close();
  }
}

/** Browsers send `Sec-Fetch-Mode`. Those that are too old for it are recognised by `Accept`. */
function isNavigation({ headers }: IncomingMessage): boolean {
  const fetchMode = headers['sec-fetch-mode'];
  return fetchMode === undefined
    ? /\btext\/html\b/i.test(headers.accept ?? '')
    : fetchMode === 'navigate';
}

function cacheControlOf(path: string): string {
  return hasContentHash(path) ? 'public, max-age=31536000, immutable' : 'no-cache';
}

const BUNDLES = /\/(assets|_astro|_next|_app|static|chunks|build)\/.*\.(m?js|css|wasm|woff2?|map)$/;

/**
 * Whether a bundler has put a content hash into the file's name. If a word were mistaken for a
 * hash, browsers would keep an old file for a year, so a doubtful name counts as none. A hash is at
 * least eight hexadecimal digits (webpack, Next.js, Gatsby), or eight characters of base64 or
 * base32 (Vite, Astro, SvelteKit, esbuild, Angular). The latter may be a word in CamelCase if it
 * has no digit, and then counts only in the folders of bundlers.
 */
function hasContentHash(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const stem = name.replace(/(\.(chunk|min|module|bundle))?(\.\w{1,5}){1,2}$/, '');
  const hex = /(?:^|[._-])([0-9a-f]{8,64})$/.exec(stem)?.[1] ?? '';
  if (/\d/.test(hex) && /[a-f]/.test(hex)) return true;
  const word = /[.-]([\w-]{8})$/.exec(stem)?.[1] ?? '';
  if (!/[A-Z]/.test(word) || /^([a-z_-]+\d+|\d+[a-z_-]+)$/i.test(word)) return false;
  return /\d/.test(word) || (BUNDLES.test(path) && /[a-z]/.test(word) && /.[A-Z]/.test(word));
}

function redirect(response: ServerResponse, path: string, query: string | undefined): void {
  const location = path.split('/').map(encodeURIComponent).join('/');
  response
    .writeHead(301, {
      location: query ? `${location}?${query}` : location,
      'cache-control': 'no-cache',
    })
    .end();
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad request',
  404: 'Not found',
  405: 'Method not allowed',
  500: 'The file could not be read',
};

function fail(response: ServerResponse, status: number): void {
  response
    .writeHead(status, {
      'content-type': `text/plain; ${TEXT}`,
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
    })
    .end(`${REASONS[status]}\n`);
}
