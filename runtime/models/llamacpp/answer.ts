import { randomUUID } from 'node:crypto';
import type { Generated, Generator } from './generator.ts';
import type { ResponseStream } from './response-stream.ts';
import type { Prompt } from './prompt.ts';
import { type AnswerParts, type ToolCall, ToolCallReader } from './tool-calls.ts';

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
  let text = '';
  const calls: ToolCall[] = [];
  const reader = readerOf(prompt, {
    text: (piece) => void (text += piece),
    call: (call) => void calls.push(call),
  });
  const generated = await generator.generate(prompt, signal, (piece, isThought) => {
    if (isThought) thought += piece;
    else reader?.push(piece);
  });
  reader?.end();
  const answer = { ...generated, ...(reader && { text }), calls, thought };
  response.json(200, {
    ...headOf(prompt, model, prompt.kind === 'chat' ? 'chat.completion' : 'text_completion'),
    choices: [choiceOf(prompt, answer)],
    usage: usageOf(generated),
  });
}

/** Calls are looked for only where tools were offered. */
function readerOf({ tools }: Prompt, parts: AnswerParts): ToolCallReader | null {
  return tools.tools.length === 0 ? null : new ToolCallReader(parts);
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
  const delta = (member: string, json: string) =>
    response.write(
      begin() + event(`{"index":0,"delta":{"${member}":${json}},"finish_reason":null}`),
    );
  let calls = 0;
  const reader = readerOf(prompt, {
    text: (piece) => delta('content', JSON.stringify(piece)),
    call: (call) => delta('tool_calls', JSON.stringify([{ index: calls++, ...toWire(call) }])),
  });
  const generated = await generator.generate(prompt, signal, (text, thought) => {
    if (text === '') return;
    const piece = JSON.stringify(text);
    if (!isChat) response.write(event(`{"index":0,"text":${piece},"finish_reason":null}`));
    else if (thought) delta('reasoning_content', piece);
    else if (reader) reader.push(text);
    else delta('content', piece);
  });
  reader?.end();
  const reason = reasonOf(generated, calls);
  const last = event(
    `{"index":0,${isChat ? '"delta":{}' : '"text":""'},"finish_reason":"${reason}"}`,
  );
  const usage = prompt.usage
    ? `data: ${JSON.stringify({ ...head, choices: [], usage: usageOf(generated) })}\n\n`
    : '';
  response.end(`${begin()}${last}${usage}data: [DONE]\n\n`);
}

const toWire = ({ id, name, arguments: args }: ToolCall) => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});

/** An answer that was cut says so, also when a call was begun. */
const reasonOf = ({ reason }: Generated, calls: number) =>
  calls > 0 && reason === 'stop' ? 'tool_calls' : reason;

const headOf = ({ kind }: Prompt, model: string, object: string): Head => ({
  id: `${kind === 'chat' ? 'chatcmpl' : 'cmpl'}-${randomUUID()}`,
  object,
  created: Math.floor(Date.now() / 1000),
  model,
});

interface Answer extends Generated {
  readonly thought: string;
  readonly calls: readonly ToolCall[];
}

function choiceOf({ kind }: Prompt, answer: Answer): object {
  const { text, thought, calls } = answer;
  if (kind === 'text') return { index: 0, text, finish_reason: answer.reason, logprobs: null };
  return {
    index: 0,
    message: {
      role: 'assistant',
      content: text === '' && calls.length > 0 ? null : text,
      ...(thought !== '' && { reasoning_content: thought }),
      ...(calls.length > 0 && { tool_calls: calls.map(toWire) }),
    },
    finish_reason: reasonOf(answer, calls.length),
    logprobs: null,
  };
}

const usageOf = ({ promptTokens, tokens }: Generated) => ({
  prompt_tokens: promptTokens,
  completion_tokens: tokens,
  total_tokens: promptTokens + tokens,
});
