import type * as Library from 'node-llama-cpp';
import { ApiFailure, invalid } from './failure.ts';
import type { LlamaOrder } from './messages.ts';
import type { Prompt } from './prompt.ts';
import { createVectors, type Vectors } from './vectors.ts';
import { createVocabulary, keepCharactersWhole, type WholeCharacters } from './whole-characters.ts';

export interface Generated {
  readonly text: string;
  readonly reason: 'stop' | 'length';
  readonly promptTokens: number;
  readonly tokens: number;
}

/** Called with each piece of an answer. `thought` is true for the reasoning of the model. */
export type OnText = (text: string, thought: boolean) => void;

/** Maximum length of the queue. Further prompts are refused. */
const MAX_QUEUED = 64;
/** Characters that are tokenized together to check whether a text can fit. */
const PIECE_LENGTH = 2000;
/** Upper bound of the extra tokens that cutting a text in two can cause. */
const MAX_CUT_TOKENS = 8;

/** @throws the library's error when the file cannot be loaded. */
export async function loadGenerator(
  library: typeof Library,
  { path, context: size, parallel, threads }: LlamaOrder,
): Promise<Generator> {
  const llama = await library.getLlama({
    build: 'never',
    skipDownload: true,
    logLevel: library.LlamaLogLevel.error,
    maxThreads: threads,
  });
  const model = await llama.loadModel({ modelPath: path });
  const context = await model.createContext({
    sequences: parallel,
    contextSize: { max: Math.min(size, model.trainContextSize) },
  });
  const vocabulary = createVocabulary(model);
  const sequences = Array.from({ length: parallel }, () => {
    const sequence = context.getSequence();
    return { sequence, ...keepCharactersWhole(library, sequence, vocabulary) };
  });
  return new Generator({ library, llama, model, context, size, sequences });
}

interface LoadedModel {
  readonly library: typeof Library;
  readonly llama: Library.Llama;
  readonly model: Library.LlamaModel;
  readonly context: Library.LlamaContext;
  /** The most tokens of a context, as it was ordered. */
  readonly size: number;
  readonly sequences: readonly WholeSequence[];
}

interface WholeSequence extends WholeCharacters {
  readonly sequence: Library.LlamaContextSequence;
}

/** A loaded model. It processes several prompts at once, and queues further ones. */
export class Generator {
  readonly #loaded: LoadedModel;
  readonly #sequences: ReturnType<typeof createPool<WholeSequence>>;
  readonly #wrapper: Library.ChatWrapper;
  readonly vectors: Vectors;

  constructor(loaded: LoadedModel) {
    const { library, model, size, sequences } = loaded;
    this.#loaded = loaded;
    this.#sequences = createPool(sequences);
    // This takes half a second, so it is done here and not in the first request.
    this.#wrapper = library.resolveChatWrapper(model);
    this.vectors = createVectors(model, size);
  }

  /** The most tokens of a prompt and its answer together. */
  get contextSize(): number {
    return this.#loaded.context.contextSize;
  }

  get layersOnGpu(): number {
    return this.#loaded.model.gpuLayers;
  }

  /** Tokens of a prompt, as the model reads it. @throws ApiFailure 400 when it cannot fit */
  count(prompt: Prompt): number {
    return this.#read(prompt).input.length;
  }

  async generate(prompt: Prompt, signal: AbortSignal, onText: OnText): Promise<Generated> {
    const { history, input } = this.#read(prompt);
    const room = this.contextSize - input.length - 1;
    if (room < 1) throw tooLong(prompt, this.contextSize);
    const common = {
      ...(await samplingOf(this.#loaded.llama, prompt)),
      signal,
      maxTokens: Math.min(prompt.maxTokens ?? room, room),
    };
    const { library } = this.#loaded;
    return this.#sequences.use(signal, async ({ sequence, refused }) => {
      const options = { ...common, ...(prompt.grammar !== null && { tokenBias: refused }) };
      // The cache of an earlier prompt changes the last digits of the probabilities, but the same
      // seed must give the same text.
      if (prompt.sampling.seed !== null) await sequence.clearHistory();
      const before = sequence.tokenMeter.usedOutputTokens;
      const work = { sequence, options, onText };
      const { text, reason } =
        prompt.kind === 'chat'
          ? await answerChat(library, { ...work, wrapper: this.#wrapper, history })
          : await completeText(library, { ...work, input });
      return {
        text,
        reason: reason === 'maxTokens' ? 'length' : 'stop',
        promptTokens: input.length,
        tokens: sequence.tokenMeter.usedOutputTokens - before,
      };
    });
  }

  #read(prompt: Prompt) {
    const history: Library.ChatHistoryItem[] = [...prompt.history, { type: 'model', response: [] }];
    const input = tokensOf(prompt, {
      model: this.#loaded.model,
      limit: this.contextSize,
      text: () => this.#wrapper.generateContextState({ chatHistory: history }).contextText,
    });
    return { history, input };
  }
}

interface Reading {
  readonly model: Library.LlamaModel;
  /** Size of the context in tokens. */
  readonly limit: number;
  /** The messages in the chat template of the model. */
  readonly text: () => Library.LlamaText;
}

/**
 * Tokenizing takes time that grows with the square of the length, and blocks all other answers. So
 * a text that cannot fit is refused after its first pieces.
 */
function tokensOf(prompt: Prompt, { model, limit, text }: Reading): Library.Token[] {
  const messages = prompt.kind === 'chat' ? text() : null;
  const all = messages?.toString() ?? prompt.text;
  for (let at = 0, least = 0; all.length > limit && at < all.length; at += PIECE_LENGTH) {
    least += model.tokenize(all.slice(at, at + PIECE_LENGTH)).length - MAX_CUT_TOKENS;
    if (least > limit) throw tooLong(prompt, limit);
  }
  return messages ? messages.tokenize(model.tokenizer) : model.tokenize(prompt.text);
}

const tooLong = ({ kind }: Prompt, limit: number) =>
  new ApiFailure(
    400,
    `The prompt is longer than the ${limit} tokens that the context holds: shorten it, ` +
      'or raise MODELS_CONTEXT where the model knows more',
    { param: kind === 'chat' ? 'messages' : 'prompt', code: 'context_length_exceeded' },
  );

type Options = Awaited<ReturnType<typeof samplingOf>> & {
  readonly tokenBias?: () => Library.TokenBias;
  readonly signal: AbortSignal;
  readonly maxTokens: number;
};

interface ChatWork {
  readonly sequence: Library.LlamaContextSequence;
  readonly wrapper: Library.ChatWrapper;
  readonly history: Library.ChatHistoryItem[];
  readonly options: Options;
  readonly onText: OnText;
}

async function answerChat(
  library: typeof Library,
  { sequence, wrapper, history, options, onText }: ChatWork,
): Promise<{ text: string; reason: string }> {
  const session = new library.LlamaChat({ contextSequence: sequence, chatWrapper: wrapper });
  try {
    const { response, metadata } = await session.generateResponse(history, {
      ...options,
      onResponseChunk: ({ text, segmentType }) => onText(text, segmentType === 'thought'),
    });
    return { text: response, reason: metadata.stopReason };
  } finally {
    session.dispose({ disposeSequence: false });
  }
}

interface TextWork extends Pick<ChatWork, 'sequence' | 'options' | 'onText'> {
  readonly input: Library.Token[];
}

async function completeText(
  library: typeof Library,
  { sequence, input, options, onText }: TextWork,
): Promise<{ text: string; reason: string }> {
  const session = new library.LlamaCompletion({ contextSequence: sequence });
  try {
    const { response, metadata } = await session.generateCompletionWithMeta(input, {
      ...options,
      onTextChunk: (text) => onText(text, false),
    });
    return { text: response, reason: metadata.stopReason };
  } finally {
    session.dispose({ disposeSequence: false });
  }
}

async function samplingOf(llama: Library.Llama, { sampling, stop, grammar }: Prompt) {
  const { frequencyPenalty, presencePenalty, seed, ...rest } = sampling;
  const penalized = frequencyPenalty !== 0 || presencePenalty !== 0;
  return {
    ...rest,
    ...(seed !== null && { seed: Math.abs(Math.trunc(seed)) }),
    repeatPenalty: penalized ? { penalty: 1, frequencyPenalty, presencePenalty } : (false as const),
    ...(stop.length > 0 && { customStopTriggers: stop }),
    ...(grammar !== null && { grammar: await grammarOf(llama, grammar) }),
  };
}

async function grammarOf(llama: Library.Llama, grammar: string): Promise<Library.LlamaGrammar> {
  try {
    return await llama.createGrammar({ grammar });
  } catch (error) {
    throw invalid(
      'response_format',
      `has a schema that cannot be followed: ${(error as Error).message.slice(0, 200)}`,
    );
  }
}

/** A pool. The last used free item comes first: its cache may contain the conversation. */
function createPool<T>(items: readonly T[]) {
  const free = [...items];
  const line: { readonly take: (item: T) => void; readonly signal: AbortSignal }[] = [];
  const next = async (signal: AbortSignal): Promise<T> => {
    const item = free.pop();
    if (item !== undefined) return item;
    if (line.length >= MAX_QUEUED)
      throw new ApiFailure(429, 'Too many prompts are waiting for the model');
    return new Promise((take) => line.push({ take, signal }));
  };
  const give = (item: T): void => {
    let waiting = line.shift();
    while (waiting?.signal.aborted) waiting = line.shift();
    if (waiting) waiting.take(item);
    else free.push(item);
  };
  return {
    async use<R>(signal: AbortSignal, work: (item: T) => Promise<R>): Promise<R> {
      const item = await next(signal);
      try {
        return await work(item);
      } finally {
        give(item);
      }
    },
  };
}
