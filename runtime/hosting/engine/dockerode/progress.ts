import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import protobuf from 'protobufjs';

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

/** Turns the status messages of BuildKit into lines of output. */
export interface TraceReader {
  /** `encoded` is the base64 text in the field `aux` of a progress object. */
  lines(encoded: string): readonly string[];
  /** Output that has not ended with a line break. It is returned once. */
  rest(): readonly string[];
}

const messages = protobuf.Root.fromJSON({
  nested: {
    Status: {
      fields: {
        vertexes: { rule: 'repeated', type: 'Vertex', id: 1 },
        logs: { rule: 'repeated', type: 'Log', id: 3 },
        warnings: { rule: 'repeated', type: 'Warning', id: 4 },
      },
    },
    Vertex: {
      fields: {
        digest: { type: 'string', id: 1 },
        name: { type: 'string', id: 3 },
        cached: { type: 'bool', id: 4 },
        started: { type: 'Time', id: 5 },
      },
    },
    Log: { fields: { vertex: { type: 'string', id: 1 }, msg: { type: 'bytes', id: 4 } } },
    Warning: { fields: { short: { type: 'bytes', id: 3 } } },
    Time: { fields: { seconds: { type: 'int64', id: 1 } } },
  },
});

interface Status {
  readonly vertexes: readonly {
    readonly digest: string;
    readonly name: string;
    readonly cached: boolean;
    readonly started: object | null;
  }[];
  readonly logs: readonly { readonly vertex: string; readonly msg: Uint8Array }[];
  readonly warnings: readonly { readonly short: Uint8Array }[];
}

/** Steps that BuildKit adds itself. */
const INTERNAL = /^(\[internal\]|copy \/context|exporting |resolve image config)/;

/**
 * Reads a build's messages in their order. A step is printed once it runs, and the output of steps
 * that run at the same time is put together line by line.
 */
export function createTraceReader(): TraceReader {
  const type = messages.lookupType('Status');
  const printed = new Set<string>();
  const open = new Map<string, string>();
  const decoders = new Map<string, StringDecoder>();

  const log = ({ vertex, msg }: Status['logs'][number]): string[] => {
    const decoder = decoders.get(vertex) ?? new StringDecoder();
    decoders.set(vertex, decoder);
    const lines = ((open.get(vertex) ?? '') + decoder.write(Buffer.from(msg))).split('\n');
    open.set(vertex, lines.pop() ?? '');
    return lines;
  };
  const step = ({ digest, name, cached, started }: Status['vertexes'][number]): string[] => {
    if (INTERNAL.test(name) || printed.has(digest) || (!cached && !started)) return [];
    printed.add(digest);
    return [cached ? `${name} (cached)` : name];
  };
  return {
    lines(encoded) {
      const { vertexes, logs, warnings } = type.decode(
        Buffer.from(encoded, 'base64'),
      ) as unknown as Status;
      return [
        ...vertexes.flatMap(step),
        ...logs.flatMap(log),
        ...warnings.map(({ short }) => `WARNING: ${Buffer.from(short).toString()}`),
      ];
    },
    rest() {
      const left = [...open.values()].filter((text) => text !== '');
      open.clear();
      return left;
    },
  };
}
