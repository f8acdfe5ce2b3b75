import type { Readable } from 'node:stream';

/** One object of the JSON that pull and build answer with. */
export interface Progress {
  readonly text: string;
  /**
   * Set when it failed: both engines have answered 200 by then, and dockerode's `followProgress`
   * does not reject.
   */
  readonly error: string;
}

/** Reads the objects of a pull's or build's answer, one a line, cut anywhere. */
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
