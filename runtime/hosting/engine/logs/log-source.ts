import type Dockerode from 'dockerode';
import type { Environment } from '@twofold/runtime/kernel';
import { readStream } from '../dockerode/log-stream.ts';
import type { LogOptions, PlacedLine } from '../engine.ts';
import { readLogFiles } from './file-source.ts';
import { openGenerations } from './generations.ts';
import type { FindLogPlace } from './records.ts';
import { type ReadStream, readStreams } from './stream-source.ts';

/** How to read the output of containers on one kind of engine. */
export interface LogDialect {
  /** Null to never read files. */
  readonly findLogPlace: FindLogPlace | null;
  /** Makes a function that follows the engine's stream from a function that reads it. */
  readonly follow: (read: ReadStream) => ReadStream;
}

/** With `HOSTING_LOGS=stream`, the engine's files are not read. */
export const logSetting = ({ HOSTING_LOGS }: Environment): Partial<LogDialect> =>
  HOSTING_LOGS === 'stream' ? { findLogPlace: null } : {};

/**
 * Reads a container's output: from the engine's file if it is on this machine and readable, else
 * from the engine's stream. The file is faster, because an engine decodes and frames each line of a
 * stream for each reader. This costs more than all our own work for the line.
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
