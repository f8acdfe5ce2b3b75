import { randomUUID } from 'node:crypto';
import type { Generated, Generator } from './generator.ts';
import type { ResponseStream } from './response-stream.ts';
import type { Prompt } from './prompt.ts';

/** Fields that every event of one answer contains. */
interface Head {
  readonly id: string;
  readonly object: string;
  readonly created: number;
  readonly model: string;
}

export interface Work {
  readonly generator: Generator;
  readonly prompt: Prompt;
  readonly model: string;
  readonly signal: AbortSignal;
}

/** Sends an answer as one JSON response of the OpenAI API. */
export async function answerWhole(
  response: ResponseStream,
  { generator, prompt, model, signal }: Work,
): Promise<void> {
  let thought = '';
  const generated = await generator.generate(
    prompt,
    signal,
    (text, isThought) => void (isThought && (thought += text)),
  );
  response.json(200, {
    ...headOf(prompt, model, prompt.kind === 'chat' ? 'chat.completion' : 'text_completion'),
    choices: [choiceOf(prompt, generated, thought)],
    usage: usageOf(generated),
  });
}

/**
 * Streams an answer, one event for each piece. The head of the events is serialised only once,
 * because the model waits while a token is processed.
 */
export async function answerStreamed(
  response: ResponseStream,
  { generator, prompt, model, signal }: Work,
): Promise<void> {
  const isChat = prompt.kind === 'chat';
  const head = headOf(prompt, model, isChat ? 'chat.completion.chunk' : 'text_completion');
  const open = JSON.stringify(head).slice(0, -1);
  const event = (choice: string) => `data: ${open},"choices":[${choice}]}\n\n`;
  const first = isChat
    ? event('{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}')
    : '';
  const begin = () => (response.begun ? '' : first);
  const generated = await generator.generate(prompt, signal, (text, thought) => {
    if (text === '') return;
    const piece = JSON.stringify(text);
    response.write(
      begin() +
        event(
          isChat
            ? `{"index":0,"delta":{"${thought ? 'reasoning_content' : 'content'}":${piece}},"finish_reason":null}`
            : `{"index":0,"text":${piece},"finish_reason":null}`,
        ),
    );
  });
  const last = event(
    `{"index":0,${isChat ? '"delta":{}' : '"text":""'},"finish_reason":"${generated.reason}"}`,
  );
  const usage = prompt.usage
    ? `data: ${JSON.stringify({ ...head, choices: [], usage: usageOf(generated) })}\n\n`
    : '';
  response.end(`${begin()}${last}${usage}data: [DONE]\n\n`);
}

const headOf = ({ kind }: Prompt, model: string, object: string): Head => ({
  id: `${kind === 'chat' ? 'chatcmpl' : 'cmpl'}-${randomUUID()}`,
  object,
  created: Math.floor(Date.now() / 1000),
  model,
});

function choiceOf({ kind }: Prompt, { text, reason }: Generated, thought: string): object {
  if (kind === 'text') return { index: 0, text, finish_reason: reason, logprobs: null };
  return {
    index: 0,
    message: {
      role: 'assistant',
      content: text,
      ...(thought !== '' && { reasoning_content: thought }),
    },
    finish_reason: reason,
    logprobs: null,
  };
}

const usageOf = ({ promptTokens, tokens }: Generated) => ({
  prompt_tokens: promptTokens,
  completion_tokens: tokens,
  total_tokens: promptTokens + tokens,
});
