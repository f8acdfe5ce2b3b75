import type { Readable } from 'node:stream';
import { extract, type Header } from 'tar-stream';
import { pump } from '../../source/pump.ts';
import { unclosed } from '../../source/unclosed.ts';

/** A member of an archive that an engine sends. What is not read of its bytes is skipped. */
export interface ArchiveMember {
  readonly header: Header;
  readonly data: AsyncIterable<Buffer>;
}

/** Reads an archive as it arrives. An early end of the loop ends the call that sends it. */
export async function* readMembers(answer: Readable): AsyncGenerator<ArchiveMember> {
  const archive = extract();
  let failed: Error | undefined;
  const fed = pump(answer as AsyncIterable<Buffer>, archive).then(
    () => void archive.end(null),
    (error: Error) => void archive.destroy((failed = error)),
  );
  try {
    for await (const entry of unclosed(archive)) {
      yield { header: entry.header, data: unclosed(entry as AsyncIterable<Buffer>) };
      entry.resume();
    }
  } catch (error) {
    throw failed ?? error;
  } finally {
    archive.destroy();
    answer.destroy();
    await fed;
  }
}
