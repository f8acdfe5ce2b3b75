import { ApiError, callStream } from '../../call.ts';
import { createFrameReader } from '../../parts/event-frames.ts';

export interface ChatMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/** How fast an answer comes. */
export interface ChatRate {
  readonly tokens: number;
  readonly seconds: number;
}

interface Chunk {
  readonly choices?: readonly { readonly delta?: { readonly content?: string } }[];
  readonly usage?: { readonly completion_tokens?: number } | null;
  readonly error?: { readonly message: string };
}

/**
 * Asks the running model, and passes on the answer so far after each piece.
 *
 * @throws ApiError when the server refuses or the model ends
 */
export async function ask(
  body: { readonly model: string; readonly messages: readonly ChatMessage[] },
  signal: AbortSignal,
  onContent: (content: string, rate: ChatRate) => void,
): Promise<void> {
  const request = { ...body, stream: true, stream_options: { include_usage: true } };
  const path = '/api/mlx/v1/chat/completions';
  const answer = await callStream('POST', path, request, { signal });
  const read = createFrameReader();
  let [content, tokens, began] = ['', 0, 0];
  for await (const text of textOf(answer)) {
    for (const { data } of read(text)) {
      if (data === '[DONE]') continue;
      const chunk = JSON.parse(data) as Chunk;
      if (chunk.error) throw new ApiError(502, chunk.error.message, null);
      const piece = chunk.choices?.[0]?.delta?.content ?? '';
      began ||= performance.now();
      content += piece;
      tokens = chunk.usage?.completion_tokens ?? tokens + (piece === '' ? 0 : 1);
    }
    onContent(content, { tokens, seconds: (performance.now() - began) / 1000 });
  }
}

async function* textOf(bytes: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  const reader = bytes.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}
