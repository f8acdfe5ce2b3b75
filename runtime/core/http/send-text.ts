import { Readable } from 'node:stream';
import type { Context } from 'koa';
import type { JsonText } from '../store/large-text.ts';

/** Makes a text the body. A large one is sent piece by piece, as fast as the client reads it. */
export function sendText(ctx: Context, text: JsonText): void {
  if (typeof text === 'string') return void (ctx.body = text);
  ctx.body = Readable.from(text.pieces);
  ctx.length = text.bytes;
}
