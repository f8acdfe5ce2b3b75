import type { Readable } from 'node:stream';

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
  let rest = '';
  for await (const chunk of stream.setEncoding('utf8')) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') yield parse(line);
  }
  if (rest.trim() !== '') yield parse(rest);
}

function parse(line: string): Progress {
  try {
    const message = JSON.parse(line) as {
      stream?: string;
      status?: string;
      error?: string;
      errorDetail?: { message?: string };
    };
    return {
      text: (message.stream ?? message.status ?? '').replace(/\n$/, ''),
      error: message.error ?? message.errorDetail?.message ?? '',
    };
  } catch {
    return { text: line, error: '' };
  }
}
