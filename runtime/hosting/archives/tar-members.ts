import { on } from 'node:events';
import { Readable } from 'node:stream';
import { extract, type Header } from 'tar-stream';
import { pump } from './chunks.ts';
import { unclosed } from './unclosed.ts';

/** A member of a tar archive. Bytes that the caller does not read are skipped. */
export interface Member {
  readonly header: Header;
  readonly data: AsyncIterable<Buffer>;
}

/**
 * Reads an archive member by member as it arrives: the old format, ustar, GNU and pax. Only headers
 * are kept in memory. A loop that ends early ends the call that sends the archive.
 *
 * @param describe What to throw when the archive is damaged or cut off. A failure of `chunks` is
 * thrown as it is.
 */
export async function* readMembers(
  chunks: AsyncIterable<Buffer>,
  describe: (error: Error) => Error = (error) => error,
): AsyncGenerator<Member> {
  const archive = extract({ allowUnknownFormat: true } as object);
  let failed: Error | undefined;
  const fed = pump(chunks instanceof Readable ? unjoined(chunks) : chunks, archive).then(
    () => void archive.end(null),
    (error: Error) => void archive.destroy((failed = error)),
  );
  const describeUnlessFailed = (error: Error) => failed ?? describe(error);
  try {
    for await (const entry of unclosed(archive, describeUnlessFailed)) {
      const data = unclosed(entry as AsyncIterable<Buffer>, describeUnlessFailed);
      yield { header: entry.header, data };
      entry.resume();
    }
  } finally {
    archive.destroy();
    // Else `fed` would wait for bytes that nobody wants any more.
    if (chunks instanceof Readable) chunks.destroy();
    await fed;
  }
  if (failed) throw failed;
}

/** Iterating a stream itself joins the chunks that wait in it, which is one more copy of each byte. */
async function* unjoined(stream: Readable): AsyncGenerator<Buffer> {
  const options = { close: ['end', 'close'], highWaterMark: 16, lowWaterMark: 4 };
  for await (const [chunk] of on(stream, 'data', options)) yield chunk as Buffer;
  if (!stream.readableEnded) throw new Error('The archive was closed before its end');
}
