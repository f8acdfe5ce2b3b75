import type Dockerode from 'dockerode';
import type { Environment } from '@twofold/runtime/kernel';
import { readStream } from '../dockerode/log-stream.ts';
import type { LogOptions, PlacedLine } from '../engine.ts';
import { readLogFiles } from './file-source.ts';
import { openGenerations } from './generations.ts';
import type { FindLogPlace } from './log-place.ts';
import { type ReadStream, readStreams } from './stream-source.ts';

/** How an engine's outputs are read. */
export interface LogDialect {
  /** Null when files are not to be read. */
  readonly findLogPlace: FindLogPlace | null;
  /** How an output is followed by the engine's stream, from how it is read. */
  readonly follow: (read: ReadStream) => ReadStream;
}

/** `HOSTING_LOGS=stream` keeps away from the engine's files. */
export const logSetting = ({ HOSTING_LOGS }: Environment): Partial<LogDialect> =>
  HOSTING_LOGS === 'stream' ? { findLogPlace: null } : {};

/**
 * A container's output: from the file that the engine writes it to, when that is on this machine
 * and may be read, else from the engine's own stream. An engine decodes and frames each line of its
 * stream for each reader, and that costs it more than all that is done with a line here.
 */
export async function* readContainerLogs(
  client: Dockerode,
  { findLogPlace, follow }: LogDialect,
  { id, ...options }: LogOptions & { readonly id: string },
): AsyncGenerator<PlacedLine[]> {
  const place = await findLogPlace?.(client, id).catch(() => null);
  const generations =
    place && (await openGenerations({ path: place.path, id, format: place.format }));
  if (!place || !generations) {
    const read: ReadStream = (each) =>
      readStream({ path: `/containers/${id}`, modem: client.modem }, each);
    return yield* readStreams({ read, follow: follow(read) }, options);
  }
  try {
    yield* readLogFiles(place, generations, options);
  } finally {
    await generations.close();
  }
}
