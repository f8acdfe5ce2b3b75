import type { Readable } from 'node:stream';
import type Dockerode from 'dockerode';
import type { LogLine } from '../engine.ts';
import { toEngineError } from '../errors.ts';
import { createFrameReader, createLineAssembler } from './frames.ts';

/** What has output: a container, or a service with those of its tasks. */
export interface LogSource {
  readonly path: string;
  readonly modem: Dockerode['modem'];
}

/** How an output is read, before its lines have places. */
export interface StreamOptions {
  readonly tail?: number | undefined;
  /** Unix seconds. */
  readonly since?: number | undefined;
  readonly follow?: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Leaves out what has no line end yet: it will be read again. */
  readonly whole?: boolean;
}

/**
 * A container's output as lines, a piece of the stream at a time. Times are always asked for: they
 * are what a resumed stream goes by.
 */
export async function* readStream(
  source: LogSource,
  options: StreamOptions,
): AsyncGenerator<LogLine[]> {
  try {
    yield* lines(await open(source, options), options.whole === true);
  } catch (error) {
    if (!options.signal?.aborted) throw toEngineError(error);
  }
}

async function open(
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
  // Without `follow` dockerode reads the whole answer into memory; the answer is a stream only with
  // it.
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

async function* lines(stream: Readable, whole: boolean): AsyncGenerator<LogLine[]> {
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
