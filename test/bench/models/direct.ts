import { getLlama, LlamaChat, LlamaLogLevel, resolveChatWrapper } from 'node-llama-cpp';

/** The library alone, in a process of its own: what the API is measured against. */
const { path, threads, context } = JSON.parse(process.argv[2] as string) as {
  path: string;
  threads: number;
  context: number;
};
const llama = await getLlama({
  build: 'never',
  skipDownload: true,
  logLevel: LlamaLogLevel.error,
  maxThreads: threads,
});
const model = await llama.loadModel({ modelPath: path });
const sequences = await model.createContext({ sequences: 2, contextSize: { max: context } });
const sequence = sequences.getSequence();
const wrapper = resolveChatWrapper(model);

process.on(
  'message',
  async ({ text, seed, maxTokens }: { text: string; seed: number; maxTokens: number }) => {
    const begun = performance.now();
    let first = 0;
    let said = '';
    await sequence.clearHistory();
    const before = sequence.tokenMeter.usedOutputTokens;
    const chat = new LlamaChat({ contextSequence: sequence, chatWrapper: wrapper });
    await chat.generateResponse(
      [
        { type: 'user', text },
        { type: 'model', response: [] },
      ],
      {
        ...{
          seed,
          maxTokens,
          temperature: 0.8,
          topP: 0.95,
          topK: 40,
          minP: 0.05,
          repeatPenalty: false,
        },
        onResponseChunk: ({ text: piece }) => {
          if (piece !== '') first ||= performance.now();
          said += piece;
        },
      },
    );
    chat.dispose({ disposeSequence: false });
    process.send?.({
      text: said,
      first: first - begun,
      rest: performance.now() - first,
      tokens: sequence.tokenMeter.usedOutputTokens - before,
    });
  },
);
process.once('disconnect', () => process.exit(0));
process.send?.('ready');
