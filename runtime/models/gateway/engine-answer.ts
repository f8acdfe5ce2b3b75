import type { Readable } from 'node:stream';
import { createParser } from 'eventsource-parser';
import type { ChatChunk, Fields, Usage } from './dialect.ts';
import { engineFailure, modelCut } from './failures.ts';

/** Bytes of an answer that is not a stream. */
const MAX_ANSWER_BYTES = 256 * 1024 * 1024;

export async function readText(body: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer | string>) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > MAX_ANSWER_BYTES) throw modelCut(new RangeError('the answer is too long'));
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The whole answer of an engine. @throws AppError 502 when it is no JSON object */
export async function readAnswer(body: Readable): Promise<Fields> {
  const text = await readText(body).catch((error: unknown) => {
    throw modelCut(error);
  });
  try {
    return JSON.parse(text) as Fields;
  } catch (cause) {
    throw modelCut(cause);
  }
}

/**
 * The chunks of a streamed answer, those together that arrive together.
 *
 * @throws AppError when the engine reports an error, or ends before `[DONE]`
 */
export async function* readChunks(body: Readable): AsyncGenerator<readonly ChatChunk[]> {
  const decoder = new TextDecoder();
  let arrived: ChatChunk[] = [];
  let done = false;
  const parser = createParser({
    onEvent({ data }) {
      if (data === '[DONE]') done = true;
      else arrived.push(toChunk(data));
    },
  });
  for await (const bytes of body as AsyncIterable<Buffer | string>) {
    parser.feed(typeof bytes === 'string' ? bytes : decoder.decode(bytes, { stream: true }));
    if (arrived.length === 0) continue;
    const together = arrived;
    arrived = [];
    const failed = together.find(({ error }) => error !== undefined);
    if (failed) throw engineFailure(502, JSON.stringify(failed));
    yield together;
  }
  if (!done) throw modelCut(new Error('the stream of the engine has no end'));
}

function toChunk(data: string): ChatChunk {
  try {
    return JSON.parse(data) as ChatChunk;
  } catch (cause) {
    throw modelCut(cause);
  }
}

/** Counts what an answer has used, from the engine's own figures where it has them. */
export class Meter {
  /** Whether the answer comes in pieces, which can be counted when its end does not come. */
  isStreamed: boolean;
  readonly #most: Usage;
  #pieces = 0;
  #known: Usage | null = null;

  /** @param most what was reserved; zeros where nothing had to be */
  constructor(most: Usage, isStreamed: boolean) {
    this.#most = most;
    this.isStreamed = isStreamed;
  }

  chunk({ usage, choices }: ChatChunk): void {
    this.answer({ usage });
    const [choice] = choices ?? [];
    const {
      content,
      reasoning_content: thought,
      reasoning,
      tool_calls: calls,
    } = choice?.delta ?? {};
    if (content || thought || reasoning || calls?.length || choice?.text) this.#pieces += 1;
  }

  /** The usage of a whole answer. */
  answer({ usage }: Fields): void {
    const { prompt_tokens: input, completion_tokens: output } = (usage ?? {}) as Fields;
    if (typeof input === 'number')
      this.#known = { input, output: typeof output === 'number' ? output : 0 };
  }

  /**
   * What was used. A piece of a stream is one token for all known engines. Of an answer that comes
   * whole nothing is known before its end, so it costs what was reserved.
   */
  used(): Usage {
    const { input, output } = this.#most;
    return this.#known ?? { input, output: this.isStreamed ? this.#pieces : output };
  }
}
