import { open } from 'node:fs/promises';
import type { LocalModel } from '../model.ts';

/** What a model is for. */
export type ModelKind = 'chat' | 'embedding' | 'rerank';

const HEADER_BYTES = 256 * 1024;
/** How a GGUF file says that a model gives one vector for a text (llama.cpp's pooling types). */
const POOLING_KEY = '.pooling_type';
const RANK = 4;
const ENCODERS = /^(bert|nomic-bert|jina-bert|modern-bert|neo-bert|t5encoder)/;
const ARCHITECTURE_KEY = 'general.architecture';

const known = new Map<string, ModelKind>();

/** The kind of a downloaded model, from the header of its file. */
export async function kindOf({ id, format, path }: LocalModel): Promise<ModelKind> {
  const found = known.get(path) ?? (await readKind(id, format === 'gguf' ? path : null));
  known.set(path, found);
  return found;
}

async function readKind(id: string, path: string | null): Promise<ModelKind> {
  if (/rerank/i.test(id)) return 'rerank';
  const header = path === null ? null : await readHeader(path).catch(() => null);
  if (!header) return /embed/i.test(id) ? 'embedding' : 'chat';
  const pooling = poolingOf(header);
  if (pooling === RANK) return 'rerank';
  return pooling > 0 || ENCODERS.test(architectureOf(header)) ? 'embedding' : 'chat';
}

async function readHeader(path: string): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** After a key come the type of its value, of four bytes, and the value. */
function poolingOf(header: Buffer): number {
  const at = header.indexOf(POOLING_KEY);
  const value = at + POOLING_KEY.length + 4;
  return at < 0 || value + 4 > header.length ? 0 : header.readUInt32LE(value);
}

/** A text has its length, of eight bytes, before it. */
function architectureOf(header: Buffer): string {
  const at = header.indexOf(ARCHITECTURE_KEY);
  const text = at + ARCHITECTURE_KEY.length + 12;
  return at < 0 ? '' : header.subarray(text, text + 32).toString('latin1');
}
