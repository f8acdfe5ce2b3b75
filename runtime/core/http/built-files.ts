import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import type { Context } from 'koa';

/** A file of an application for browsers, in the forms in which it is sent. */
export interface BuiltFile {
  readonly type: string;
  readonly tag: string;
  readonly cache: string;
  readonly bytes: Buffer;
  /** Packs it once, when it is first asked for so. */
  packed(encoding: Encoding): Promise<Buffer>;
}

/** The files by name: the document `index.html`, and `assets/<name>-<hash>`. */
export type BuiltFiles = ReadonlyMap<string, BuiltFile>;

interface Sources {
  /** The folder of the files in the package. */
  readonly dist: URL;
  /** Builds them in a checkout, which has only their sources. */
  build(): Promise<ReadonlyMap<string, Buffer>>;
  /** What the document says of this server, by the word that stands for it. */
  readonly words: Readonly<Record<string, string>>;
}

/** Reads the files, which are the same for every server. Only the document differs. */
export async function readBuiltFiles({ dist, build, words }: Sources): Promise<BuiltFiles> {
  const folder = fileURLToPath(dist);
  const files = existsSync(folder) ? await readFolder(folder) : await build();
  return new Map(
    [...files].map(([name, bytes]) => {
      const sent = name === 'index.html' ? Buffer.from(filled(bytes.toString(), words)) : bytes;
      return [name, builtFile(name, sent)];
    }),
  );
}

async function readFolder(folder: string): Promise<ReadonlyMap<string, Buffer>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return new Map(
    await Promise.all(
      files.map(async ({ parentPath, name }) => {
        const full = join(parentPath, name);
        const key = full.slice(folder.length).replaceAll('\\', '/');
        return [key, await readFile(full)] as const;
      }),
    ),
  );
}

const filled = (document: string, words: Sources['words']): string =>
  document.replaceAll(/%(\w+)%/g, (whole, word: string) => escaped(words[word] ?? whole));

const escaped = (text: string) =>
  text.replaceAll(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);

const A_YEAR = 'public, max-age=31536000, immutable';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Ways to pack a file, the smallest first. */
const PACK = { br: promisify(brotliCompress), gzip: promisify(gzip) } as const;

type Encoding = keyof typeof PACK;
const ENCODINGS = Object.keys(PACK) as readonly Encoding[];

function builtFile(name: string, bytes: Buffer): BuiltFile {
  const packed: Partial<Record<Encoding, Promise<Buffer>>> = {};
  return {
    type: TYPES[extname(name)] ?? 'application/octet-stream',
    tag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
    cache: name.startsWith('assets/') ? A_YEAR : 'no-cache',
    bytes,
    packed: (encoding) => (packed[encoding] ??= PACK[encoding](bytes)),
  };
}

/** Sends a file, packed as the browser takes it. */
export async function sendBuiltFile(ctx: Context, file: BuiltFile): Promise<void> {
  ctx.set({ 'Cache-Control': file.cache, ETag: file.tag });
  ctx.vary('Accept-Encoding');
  ctx.status = 200;
  if (ctx.fresh) return void (ctx.status = 304);
  // Browsers name gzip first, and of those named equally the first would be taken.
  const encoding = ENCODINGS.find((each) => ctx.acceptsEncodings(each, 'identity') === each);
  if (encoding) ctx.set('Content-Encoding', encoding);
  ctx.type = file.type;
  ctx.body = encoding ? await file.packed(encoding) : file.bytes;
}
