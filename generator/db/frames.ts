import type { MarkedLine } from '@twofold/database';

/** A part of the stream between the project, which knows the database, and this process, which knows the file. */
export type Frame = { readonly mark: MarkedLine } | { readonly bytes: Buffer };

/** Starts a marked line; JSON never contains it unescaped. */
const MARK = 0x1e;
const LINE_END = 0x0a;

export const markLine = (mark: object): Buffer =>
  Buffer.from(`${String.fromCharCode(MARK)}${JSON.stringify(mark)}\n`);

/** Splits a stream into marks and bytes of rows, which are passed on as they come. */
export async function* framesOf(stream: AsyncIterable<Buffer>): AsyncGenerator<Frame> {
  let open: Buffer[] = [];
  for await (const chunk of stream) {
    for (let at = 0; at < chunk.length;) {
      if (open.length === 0) {
        const start = chunk.indexOf(MARK, at);
        const bytes = chunk.subarray(at, start === -1 ? chunk.length : start);
        if (bytes.length > 0) yield { bytes };
        if (start === -1) break;
        at = start;
      }
      const end = chunk.indexOf(LINE_END, at);
      open.push(chunk.subarray(at, end === -1 ? chunk.length : end));
      if (end === -1) break;
      yield { mark: JSON.parse(Buffer.concat(open).toString('utf8').slice(1)) as MarkedLine };
      open = [];
      at = end + 1;
    }
  }
}

export const HEAD_FILE = 'backup.json';

/** The file of a table within the archive. */
export const fileOf = (table: string): string =>
  `tables/${table.replaceAll('%', '%25').replaceAll('/', '%2F')}.jsonl`;
