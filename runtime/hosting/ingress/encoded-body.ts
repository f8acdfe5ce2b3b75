import type { ClientResponse } from './client.ts';
import { createEncoder, type Encoding } from './compression.ts';
import type { Visit } from './visits.ts';

/** The body of a response that is compressed on its way to the client. */
export interface EncodedBody {
  /** @returns false when no more should come before `onDrain` calls its listener. */
  write(data: Buffer): boolean;
  end(data: Buffer | undefined, trailers?: readonly (readonly [string, string])[]): void;
  onDrain(listener: () => void): void;
}

export function encodeBody(
  { response, visit }: { readonly response: ClientResponse; readonly visit: Visit },
  encoding: Encoding,
  length: number | null,
): EncodedBody {
  const encoder = createEncoder(encoding, length);
  let trailers: readonly (readonly [string, string])[] = [];
  encoder.on('data', (data: Buffer) => {
    visit.sent += data.length;
    if (response.write(data)) return;
    encoder.pause();
    response.once('drain', () => encoder.resume());
  });
  encoder.on('end', () => {
    if (trailers.length > 0) response.addTrailers(trailers as [string, string][]);
    response.end();
  });
  encoder.on('error', () => response.destroy());
  response.on('close', () => encoder.destroy());
  return {
    write: (data) => encoder.write(data),
    end(data, given = []) {
      trailers = given;
      if (data === undefined) encoder.end();
      else encoder.end(data);
    },
    onDrain: (listener) => void encoder.once('drain', listener),
  };
}
