import type { Readable } from 'node:stream';
import type Dockerode from 'dockerode';
import type { LogLine } from '../engine.ts';
import { toEngineError } from '../errors.ts';
import { createFrameReader, createLineAssembler } from './frames.ts';

/** An API path that has output: a container, or a service with the output of its tasks. */
export interface LogSource {
  readonly path: string;
  readonly modem: Dockerode['modem'];
}

/** Which part of an output to read. */
export interface StreamOptions {
  readonly tail?: number | undefined;
  /** Unix seconds. */
  readonly since?: number | undefined;
  readonly follow?: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Omits an incomplete last line, which the next read returns. */
  readonly whole?: boolean;
}

/**
 * Reads a container's output as lines, one batch per piece of the stream. Times are always
 * requested, because a resumed stream needs them as its position.
 */
export async function* readStream(
  source: LogSource,
  options: StreamOptions,
): AsyncGenerator<LogLine[]> {
  try {
    yield* readLines(await openStream(source, options), options.whole === true);
  } catch (error) {
    if (!options.signal?.aborted) throw toEngineError(error);
  }
}

async function openStream(
  { path, modem: client }: LogSource,
  { tail, since, follow = false, signal }: StreamOptions,
): Promise<Readable> {
  const query = {
    stdout: true,
    stderr: true,
    timestamps: true,
    ...(tail === undefined ? {} : { tail }),
    ...(since === undefined ? {} : { since: Math.floor(since) }),
  };
  // dockerode returns a stream only with `follow`; without it, it reads the whole output into
  // memory. So this calls its lower layer.
  const modem = client as {
    dial(options: object, done: (error: unknown, stream: Readable) => void): void;
  };
  const stream = await new Promise<Readable>((resolve, reject) => {
    modem.dial(
      {
        path: `${path}/logs?`,
        method: 'GET',
        isStream: true,
        abortSignal: signal,
        statusCodes: { 101: true, 200: true, 404: 'no such container', 500: 'server error' },
        options: { ...query, follow },
      },
      (error, answer) => (error ? reject(error) : resolve(answer)),
    );
  });
  signal?.addEventListener('abort', () => stream.destroy(), { once: true });
  return stream;
}

async function* readLines(stream: Readable, whole: boolean): AsyncGenerator<LogLine[]> {
  const read = createFrameReader();
  const assembler = createLineAssembler();
  for await (const chunk of stream) {
    const found: LogLine[] = [];
    for (const frame of read(chunk as Buffer)) assembler.push(frame, found);
    if (found.length > 0) yield found;
  }
  const rest = whole ? [] : assembler.end();
  if (rest.length > 0) yield rest;
}
