import { failure } from '@twofold/runtime/errors';

/** A part of a form: its name, and then its bytes. */
export type FormPart =
  | { readonly name: string; readonly filename: string | null }
  | { readonly data: Buffer };

const MAX_HEADER = 8 * 1024;
const MAX_PARTS = 20;

/** The boundary of a `multipart/form-data` content type. @throws AppError 415 */
export function boundaryOf(contentType: string): string {
  const match = /^multipart\/form-data\s*;.*?\bboundary=(?:"([^"]{1,70})"|([^\s;,"]{1,70}))/i.exec(
    contentType,
  );
  const boundary = match?.[1] ?? match?.[2];
  if (boundary === undefined)
    throw failure.unsupportedMediaType('The body must be multipart/form-data');
  return boundary;
}

/**
 * Reads a form as a stream (RFC 7578, RFC 2046 §5.1): for each part its name, then its bytes as they come. Nothing of a
 * part is kept, so that its size does not matter.
 *
 * @throws AppError 400 for what is not well formed or is cut off.
 */
export async function* readForm(
  chunks: AsyncIterable<Buffer>,
  boundary: string,
): AsyncGenerator<FormPart> {
  const source = chunks[Symbol.asyncIterator]();
  const mark = Buffer.from(`\r\n--${boundary}`);
  // The first boundary needs no line end before it.
  let held: Buffer = Buffer.from('\r\n');
  const more = async () => {
    const { done, value } = await source.next();
    if (done) throw failure.badRequest('The form is cut off');
    held = Buffer.concat([held, value as Buffer]);
  };

  for (let parts = 0; ; parts += 1) {
    // What comes before the first boundary is nothing, and after each one the part's own bytes.
    for (
      let at = held.indexOf(mark);
      at < 0 || held.length < at + mark.length + 2;
      at = held.indexOf(mark)
    ) {
      const safe = at < 0 ? Math.max(0, held.length - mark.length + 1) : at;
      if (safe > 0) {
        if (parts > 0) yield { data: held.subarray(0, safe) };
        held = held.subarray(safe);
      }
      await more();
    }
    const at = held.indexOf(mark);
    if (parts > 0 && at > 0) yield { data: held.subarray(0, at) };
    held = held.subarray(at + mark.length);
    if (held.toString('latin1', 0, 2) === '--') break;
    if (parts === MAX_PARTS) throw failure.badRequest('The form has too many parts');
    yield parseHeader(await takeHeader());
  }
  // What follows the last boundary means nothing; it is read so that the connection can be used again.
  for (let bytes = 0; bytes < 64 * 1024;) {
    const { done, value } = await source.next();
    if (done) return;
    bytes += (value as Buffer).length;
  }

  async function takeHeader(): Promise<string> {
    let end = held.indexOf('\r\n\r\n');
    while (end < 0) {
      if (held.length > MAX_HEADER) throw failure.badRequest('The form is not well formed');
      await more();
      end = held.indexOf('\r\n\r\n');
    }
    const header = held.toString('utf8', 0, end);
    held = held.subarray(end + 4);
    return header;
  }
}

function parseHeader(header: string): FormPart {
  const disposition = /^content-disposition:\s*form-data\s*;(.*)$/im.exec(header)?.[1] ?? '';
  const name =
    /(?:^|;)\s*name="([^"]*)"/i.exec(disposition)?.[1] ??
    /(?:^|;)\s*name=([^\s;"]+)/i.exec(disposition)?.[1];
  if (name === undefined) throw failure.badRequest('The form is not well formed');
  return { name, filename: /(?:^|;)\s*filename="([^"]*)"/i.exec(disposition)?.[1] ?? null };
}
