import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { MoveServer } from './move-server.ts';

/** The two servers of a move, and the app. */
export interface Moving {
  readonly app: string;
  readonly from: MoveServer;
  readonly to: MoveServer;
  /** Where the source finds the target. */
  readonly address: string;
  readonly note: (text: string) => void;
}

export interface Moved {
  readonly bytes: number;
  /** When requests are no longer passed on. */
  readonly until: string;
}

/** Bytes, and milliseconds, of a part of the stream: proxies and servers limit requests. */
const PART_BYTES = 256 * 1024 * 1024;
const PART_TIME = 60_000;
/** Milliseconds between two signs of life. */
const SIGN = 5000;
const PROGRESS = 5000;

/**
 * Moves an app: its stream goes from one server to the other, encrypted with a key that both get.
 * When anything fails, both servers undo their part.
 */
export async function moveApp(moving: Moving): Promise<Moved> {
  const { app, from, to, note } = moving;
  const key = randomBytes(32).toString('base64');
  const signs = setInterval(() => void from.stay(app).catch(() => {}), SIGN);
  try {
    note(`copying ${app} while it runs`);
    const stream = await from.copy(app, { key, to: moving.address });
    // A connection that is still open would keep this process from ending.
    const { bytes, parts } = await passOn(moving, stream, key).finally(() => stream.destroy());
    note(`starting ${app} at ${to.url}`);
    await to.finish(parts + 1, key);
    const { until } = await from.commit(app);
    return { bytes, until };
  } catch (error) {
    await from.cancelExport(app).catch(() => {});
    await to.cancelImport().catch(() => {});
    throw error;
  } finally {
    clearInterval(signs);
  }
}

/** Sends the stream in parts that follow each other. */
async function passOn(
  { to, note }: Moving,
  stream: IncomingMessage,
  key: string,
): Promise<{ readonly bytes: number; readonly parts: number }> {
  const chunks = stream.iterator({ destroyOnReturn: false });
  const told = { at: Date.now() };
  let [bytes, parts] = [0, 0];
  for (let more = true; more;) {
    const part = to.part((parts += 1), key);
    let refusal: unknown;
    part.answer.catch((error: unknown) => void (refusal = error));
    const end = { bytes: bytes + PART_BYTES, at: Date.now() + PART_TIME };
    more = false;
    try {
      for await (const chunk of chunks) {
        bytes += (chunk as Buffer).length;
        if (refusal !== undefined) throw refusal;
        if (part.sent.destroyed) break;
        if (!part.sent.write(chunk)) await writable(part);
        if (Date.now() - told.at > PROGRESS) {
          note(`${Math.round(bytes / 1e6)} MB`);
          told.at = Date.now();
        }
        more = bytes >= end.bytes || Date.now() >= end.at;
        if (more) break;
      }
    } catch (error) {
      part.sent.destroy();
      throw error;
    }
    part.sent.end();
    await part.answer;
  }
  return { bytes, parts };
}

/** The answer may come before all bytes were sent: it is then a refusal. */
const writable = ({ sent, answer }: ReturnType<MoveServer['part']>) =>
  Promise.race([once(sent, 'drain').catch(() => {}), answer, once(sent, 'close').catch(() => {})]);
