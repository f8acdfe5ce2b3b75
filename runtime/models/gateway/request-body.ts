import type { IncomingMessage } from 'node:http';
import { failure } from '@twofold/runtime/errors';
import { bytesOf } from '@twofold/runtime/http';
import type { Fields } from './dialect.ts';

const MAX_BODY_BYTES = 32 * 1024 * 1024;

/** Reads the body of a request as a JSON object. @throws AppError 400, 413 */
export async function readFields(source: IncomingMessage): Promise<Fields> {
  const value = parse(await readBytes(source));
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw failure.badRequest('The body must be a JSON object');
  return value as Fields;
}

async function readBytes(source: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of bytesOf(source)) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw failure.tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw failure.badRequest('Invalid JSON');
  }
}

/** The request for an engine as text. @throws AppError 400 when it is nested too deeply */
export function toText(body: Fields | readonly unknown[]): string {
  try {
    return JSON.stringify(body);
  } catch {
    throw failure.badRequest('The body is nested too deeply');
  }
}
