import type { Readable } from 'node:stream';
import { createTraceReader, type TraceReader } from './buildkit-trace.ts';

/** One progress object (JSON) from the response of a pull or a build. */
export interface Progress {
  readonly text: string;
  /**
   * The message of a failure. Engines have already answered 200 by then, and dockerode's
   * `followProgress` does not reject.
   */
  readonly error: string;
}

/** Reads the progress objects of a pull or a build, one per line, from chunks of any length. */
export async function* readProgress(stream: Readable): AsyncGenerator<Progress> {
  const trace = createTraceReader();
  let rest = '';
  for await (const chunk of stream.setEncoding('utf8')) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') yield* parse(line, trace);
  }
  if (rest.trim() !== '') yield* parse(rest, trace);
  yield* trace.rest().map((text) => ({ text, error: '' }));
}

function* parse(line: string, trace: TraceReader): Generator<Progress> {
  const message = toMessage(line);
  if (message === null) return yield { text: line, error: '' };
  if (message.id === BUILDKIT_TRACE && typeof message.aux === 'string')
    return yield* trace.lines(message.aux).map((text) => ({ text, error: '' }));
  const error = message.error ?? message.errorDetail?.message ?? '';
  // What a command printed last must not come after the error.
  if (error !== '') yield* trace.rest().map((text) => ({ text, error: '' }));
  yield { text: (message.stream ?? message.status ?? '').replace(/\n$/, ''), error };
}

const BUILDKIT_TRACE = 'moby.buildkit.trace';

interface Message {
  readonly id?: string;
  readonly aux?: unknown;
  readonly stream?: string;
  readonly status?: string;
  readonly error?: string;
  readonly errorDetail?: { readonly message?: string };
}

function toMessage(line: string): Message | null {
  try {
    return JSON.parse(line) as Message;
  } catch {
    return null;
  }
}
